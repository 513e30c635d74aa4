import HTTPClient
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model

/// Interprets an HTTP response by its own media type, not by the requested one (GraphQL over HTTP,
/// "Processing a response").
struct UpstreamResponseReader {
  let bytesMax: Int
  let depthMax: Int
  let clock: WallClock

  func read(_ response: HTTPClientResponse) throws(UpstreamFailure) -> UpstreamResponse {
    let status = response.status.code
    guard response.body.count <= bytesMax else { throw .tooLarge(bytesMax: bytesMax) }
    let reason: String
    switch document(of: response) {
    case .success(let document):
      let permission = permission(status: status, document: document)
      if let parsed = UpstreamResponse(document: document, status: status, permission: permission) {
        guard isUsable(parsed) else {
          throw .status(status, retryAfter: retryAfter(response))
        }
        return parsed
      }
      reason = Self.fault(of: document.root)
    case .failure(let fault):
      reason = fault.reason
    }
    if let refused = refusal(status) { return refused }
    guard (200..<300).contains(status) else {
      throw .status(status, retryAfter: retryAfter(response))
    }
    throw .malformed(status: status, reason: reason, excerpt: excerpt(response))
  }

  /// Reads the payload of a subscription's event: a part of a message, which says no status.
  func read(
    payload range: Range<Int>, of message: [UInt8]
  ) throws(UpstreamFailure) -> UpstreamResponse {
    let document: JSONDocument
    do throws(JSONParseError) {
      document = try JSONDocument(message, range: range, limits: limits)
    } catch {
      throw .malformed(status: 0, reason: fault(error).reason, excerpt: "")
    }
    let permission = permission(status: 200, document: document)
    if let response = UpstreamResponse(document: document, permission: permission) {
      return response
    }
    throw .malformed(status: 0, reason: Self.fault(of: document.root), excerpt: "")
  }

  private var limits: JSONLimits {
    JSONLimits(depthMax: depthMax, bytesMax: bytesMax, valuesMax: .max)
  }

  /// Data with an error status is not trusted to be complete. Errors alone are usable, except with
  /// statuses after which the same request can succeed.
  private func isUsable(_ response: UpstreamResponse) -> Bool {
    if response.permission != nil || (200..<300).contains(response.status) { return true }
    return response.data == nil && !Self.isTransient(response.status)
  }

  /// Why a body is not a GraphQL response.
  private struct BodyFault: Error {
    let reason: String
  }

  /// The body as JSON, if its media type allows a GraphQL response and it is well-formed. A
  /// response without a media type is judged by its content.
  private func document(of response: HTTPClientResponse) -> Result<JSONDocument, BodyFault> {
    let mediaType = (response.fields[.contentType] ?? "").prefix { $0 != ";" }
      .filter { $0 != " " && $0 != "\t" }.lowercased()
    guard ["", "application/graphql-response+json", "application/json"].contains(mediaType) else {
      return .failure(BodyFault(reason: "its Content-Type is \(mediaType), not JSON"))
    }
    // Some servers send a byte order mark, which a reader may ignore (RFC 8259 section 8.1).
    let body =
      response.body.starts(with: Self.byteOrderMark)
      ? Array(response.body.dropFirst(Self.byteOrderMark.count)) : response.body
    do throws(JSONParseError) {
      return .success(try JSONDocument(body, limits: limits))
    } catch {
      return .failure(body.isEmpty ? BodyFault(reason: "it is empty") : fault(error))
    }
  }

  private func fault(_ error: JSONParseError) -> BodyFault {
    guard case .tooDeep(let limit) = error.reason else {
      return BodyFault(reason: "it is not valid JSON: \(error)")
    }
    return BodyFault(
      reason: "it is nested deeper than \(limit) levels (setting upstream.responseDepth)")
  }

  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Why a JSON text is not a GraphQL response.
  private static func fault(of root: JSONNode) -> String {
    guard root.kind == .object else { return "it is not a JSON object" }
    if let errors = root["errors"], !errors.isNull, errors.kind != .array {
      return "its errors member is not a list"
    }
    if root["data"] != nil { return "its data is null and no error says why" }
    return "it has neither data nor errors"
  }

  /// Statuses after which the same request can succeed, whatever the error body.
  private static func isTransient(_ status: Int) -> Bool {
    [408, 425, 429, 502, 503, 504].contains(status)
  }

  /// Finds a refusal in the servers' places for codes: `extensions.code` or a top-level
  /// `errorType`.
  private func permission(status: Int, document: JSONDocument) -> PermissionProblem? {
    if let errors = document.root["errors"] {
      for error in errors.elements {
        let codes = [error["extensions"]?["code"], error["errorType"]]
        for code in codes.compactMap({ $0?.string }) {
          if let problem = PermissionProblem(code: code) { return problem }
        }
      }
    }
    return PermissionProblem(status: status)
  }

  /// The response for a refusal, whatever its body: a gateway in front of upstream writes HTML.
  private func refusal(_ status: Int) -> UpstreamResponse? {
    guard let permission = PermissionProblem(status: status),
      let document = try? JSONDocument(
        text: #"{"errors":[{"message":"Upstream responded with status \#(status)."}]}"#)
    else { return nil }
    return UpstreamResponse(document: document, status: status, permission: permission)
  }

  private func retryAfter(_ response: HTTPClientResponse) -> Duration? {
    let now = HTTPDate(secondsSince1970: clock.now().milliseconds / 1000)
    guard
      let wait = response.fields[.retryAfter].flatMap({ RetryAfter.wait($0, now: now) }),
      wait <= Self.retryAfterMax
    else { return nil }
    return wait
  }

  /// More than a day means "not at all".
  private static let retryAfterMax = Duration.seconds(86_400)

  private func excerpt(_ response: HTTPClientResponse) -> String {
    String(decoding: response.body.prefix(Self.excerptBytesMax), as: UTF8.self)
  }

  /// Enough of a body for a log line.
  private static let excerptBytesMax = 200
}
