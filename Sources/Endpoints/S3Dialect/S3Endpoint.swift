package import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model
import S3Wire

/// `/s3/{bucket}/{key…}`: files through the S3 API, in path style.
///
/// The method and the names in the query select the operation, so there are few routes, and
/// ``S3Operation`` selects the operation.
struct S3Endpoint: Sendable {
  let services: S3Services
  let failures: FailureLog

  var files: FileService { services.files }

  /// No limit at the route: each reader of content has its own, so that errors are S3's.
  static let content = ContentRule(bytesMax: .max, keepsCoding: true)

  /// - Parameter isAtRoot: whether the request came to an address or host of the dialect's own.
  func respond(to request: ServerRequest, isAtRoot: Bool = false) async -> ServerResponse {
    do throws(S3Fault) {
      return S3Reply.named(
        try await respond(to: try await call(request, isAtRoot: isAtRoot)), request)
    } catch {
      failures.note(error, requestID: request.id)
      return S3Reply.fault(error, request)
    }
  }

  func refuseMethod(_ request: ServerRequest) -> ServerResponse {
    S3Reply.fault(.methodNotAllowed, request)
  }

  /// Whether a path is below that of the dialect.
  static func contains(_ path: ArraySlice<UInt8>) -> Bool {
    path.elementsEqual("/s3".utf8) || path.starts(with: "/s3/".utf8)
  }

  /// The S3 error document for a request that the server refuses before routing.
  static func refusal(
    of error: RequestError, path: ArraySlice<UInt8>, requestID: String
  ) -> RefusalContent {
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

  private func call(
    _ request: ServerRequest, isAtRoot: Bool
  ) async throws(S3Fault) -> S3Call {
    let query: QueryString
    do throws(QueryString.Fault) {
      query = try request.query()
    } catch {
      throw S3Fault(
        .invalidArgument,
        "The query string is not valid percent-encoded UTF-8, or has too many parameters.")
    }
    let fields = (0..<request.head.fields.count).map { index in
      CanonicalRequest.Field(
        request.head.fields.name(at: index).text.lowercased(),
        request.head.fields.value(at: index).text)
    }
    let access = try await services.authenticator.authenticate(
      S3SignedRequest(
        method: request.method.name, path: request.path, query: query, fields: fields,
        forwardedHost: request.forwardedHost, hasContent: request.head.hasBody,
        isBelowBasePath: !isAtRoot, id: request.id))
    return S3Call(request: request, access: access, query: query)
  }

  private func respond(to call: S3Call) async throws(S3Fault) -> ServerResponse {
    let (method, parameters) = (call.request.method, call.request.parameters)
    let level: S3Operation.Level =
      if parameters["bucket"] == nil {
        .service
      } else if parameters["key"]?.isEmpty ?? true {
        .bucket
      } else {
        .object
      }
    // Checked before anything is looked up or done.
    let operation = try S3Operation.find(method, level, call.query)
    try call.requireOwner()
    let isRead = method == .get || method == .head || operation.isAllowedByContent
    let action: FileAction = isRead ? .read : .write
    switch operation.action {
    case .service(let respond): return try await respond(self, call)
    case .bucket(let respond): return try await respond(self, try call.bucket(for: action), call)
    case .object(let respond):
      let address = ObjectAddress(
        bucket: try call.bucket(for: action), key: try call.key())
      try call.requireNoVersion()
      return try await respond(self, address, call)
    }
  }
}

/// The dependencies of the S3 dialect, made by Composition.
package struct S3Services: Sendable {
  package let files: FileService
  package let authenticator: S3Authenticator
  package let keys: S3Keys
  /// The host name at which the dialect's paths begin at the root; nil for none.
  package let host: String?

  package init(
    files: FileService, authenticator: S3Authenticator, keys: S3Keys, host: String? = nil
  ) {
    self.files = files
    self.authenticator = authenticator
    self.keys = keys
    self.host = host?.lowercased()
  }
}
