import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Logging
import Model
import S3Wire

/// `/s3/{bucket}/{key…}`: files as clients of S3 know them, in path style.
///
/// What a request asks for stands in its method and in names of its query, so the routes are few and
/// the choice is made here.
struct S3Endpoint: Sendable {
  let services: S3Services
  let logger: Logger

  var files: FileService { services.files }

  /// Whoever reads content has a limit of its own, so that what is too long is refused in S3's words.
  private static let content = ContentRule(bytesMax: .max, keepsCoding: true)

  static let lines: [RouteLine] =
    ["/s3", "/s3/"].map { line(.get, $0) }
    + ["/s3/{bucket}", "/s3/{bucket}/{key*}"].flatMap { (pattern: RoutePattern) in
      [RequestMethod.get, .put, .post, .delete].map { line($0, pattern) }
    }

  private static func line(_ method: RequestMethod, _ pattern: RoutePattern) -> RouteLine {
    RouteLine(
      method, pattern, content: content,
      refuseMethod: { endpoints, request in endpoints.s3.refuseMethod(request) },
      respond: { endpoints, request in await endpoints.s3.respond(to: request) })
  }

  func respond(to request: ServerRequest) async -> ServerResponse {
    do throws(S3Fault) {
      return S3Reply.named(try await answer(try await call(request)), request)
    } catch {
      log(error, request)
      return S3Reply.fault(error, request)
    }
  }

  func refuseMethod(_ request: ServerRequest) -> ServerResponse {
    S3Reply.fault(.methodNotAllowed, request)
  }

  /// What the server refuses before any route is asked, in the words of the dialect; nil elsewhere.
  static func refusal(
    of error: RequestError, path: ArraySlice<UInt8>, requestID: String
  ) -> RefusalContent? {
    guard path.elementsEqual("/s3".utf8) || path.starts(with: "/s3/".utf8) else { return nil }
    let code: S3ErrorCode =
      switch error.status {
      case 408: .requestTimeout
      case 413: .entityTooLarge
      case 501: .notImplemented
      default: .invalidRequest
      }
    return S3Reply.refusal(
      code, "\(error.explanation)", resource: String(decoding: path, as: UTF8.self),
      requestID: requestID)
  }

  private func log(_ fault: S3Fault, _ request: ServerRequest) {
    let metadata: Logger.Metadata = [
      "request_id": "\(request.id)", "code": "\(fault.code.rawValue)",
      "cause": "\(fault.cause ?? fault.message)",
    ]
    if fault.code == .internalError {
      logger.error("request failed", metadata: metadata)
    } else {
      logger.debug("request refused", metadata: metadata)
    }
  }

  private func call(_ request: ServerRequest) async throws(S3Fault) -> S3Call {
    let query: QueryString
    do throws(QueryString.Fault) {
      query = try request.query()
    } catch {
      throw S3Fault(.invalidArgument, "The query string cannot be read.")
    }
    let fields = (0..<request.head.fields.count).map { index in
      CanonicalRequest.Field(
        request.head.fields.name(at: index).text.lowercased(),
        request.head.fields.value(at: index).text)
    }
    let access = try await services.authenticator.authenticate(
      S3SignedRequest(
        method: request.method.name, path: request.path, query: query, fields: fields,
        forwardedHost: request.forwardedHost, hasContent: request.head.hasBody, id: request.id))
    return S3Call(request: request, access: access, query: query)
  }

  private func answer(_ call: S3Call) async throws(S3Fault) -> ServerResponse {
    let isRead = call.request.method == .get || call.request.method == .head
    guard let bucket = try call.bucket(for: isRead ? .read : .write) else {
      return try await listBuckets(call)
    }
    guard let key = try call.key() else {
      switch call.request.method {
      case .get, .head: return try await readBucket(bucket, call)
      case .put: return try await createBucket(bucket, call)
      case .delete: return try await deleteBucket(bucket, call)
      default: return try await postToBucket(bucket, call)
      }
    }
    let address = ObjectAddress(bucket: bucket, key: key)
    try call.requireNoVersion()
    switch call.request.method {
    case .get, .head: return try await readObject(address, call)
    case .put: return try await putObject(address, call)
    case .delete: return try await deleteObject(address, call)
    default: return try await postToObject(address, call)
    }
  }
}
