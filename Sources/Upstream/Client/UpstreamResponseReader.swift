import HTTPClient
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model

/// Decides what an HTTP answer says, by the type it declares for itself and never by what was
/// asked for (GraphQL over HTTP, "Processing a response").
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
      if let answer = UpstreamResponse(document: document, status: status, permission: permission) {
        guard isUsable(answer) else {
          throw .status(status, retryAfter: retryAfter(response))
        }
        return answer
      }
      reason = Self.fault(of: document.root)
    case .failure(let fault):
      reason = fault.reason
    }
    if let answer = refusal(status) { return answer }
    guard (200..<300).contains(status) else {
      throw .status(status, retryAfter: retryAfter(response))
    }
    throw .malformed(status: status, reason: reason, excerpt: excerpt(response))
  }

  /// A failed status stands against the data beside it: nobody knows whether it is whole. Errors
  /// alone count, but for statuses after which the same request may go through.
  private func isUsable(_ answer: UpstreamResponse) -> Bool {
    if answer.permission != nil || (200..<300).contains(answer.status) { return true }
    return answer.data == nil && !Self.isTransient(answer.status)
  }

  /// Why a body is no GraphQL response.
  private struct BodyFault: Error {
    let reason: String
  }

  /// The body as JSON, if its type lets it be a GraphQL response and it is well-formed. A response
  /// that does not say its type is judged by its content.
  private func document(of response: HTTPClientResponse) -> Result<JSONDocument, BodyFault> {
    let mediaType = (response.fields[.contentType] ?? "").prefix { $0 != ";" }
      .filter { $0 != " " && $0 != "\t" }.lowercased()
    guard ["", "application/graphql-response+json", "application/json"].contains(mediaType) else {
      return .failure(BodyFault(reason: "its Content-Type is \(mediaType), not JSON"))
    }
    // Some servers begin with a byte order mark, which a reader may ignore (RFC 8259 section 8.1).
    let body =
      response.body.starts(with: Self.byteOrderMark)
      ? Array(response.body.dropFirst(Self.byteOrderMark.count)) : response.body
    do throws(JSONParseError) {
      return .success(
        try JSONDocument(
          body, limits: JSONLimits(depthMax: depthMax, bytesMax: bytesMax, valuesMax: .max)))
    } catch {
      if body.isEmpty { return .failure(BodyFault(reason: "it is empty")) }
      if case .tooDeep(let limit) = error.reason {
        return .failure(
          BodyFault(
            reason: "it is nested deeper than \(limit) levels (setting upstream.responseDepth)"))
      }
      return .failure(BodyFault(reason: "it is not valid JSON: \(error)"))
    }
  }

  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// What keeps a JSON text from being a GraphQL response.
  private static func fault(of root: JSONNode) -> String {
    guard root.kind == .object else { return "it is not a JSON object" }
    if let errors = root["errors"], !errors.isNull, errors.kind != .array {
      return "its errors member is not a list"
    }
    if root["data"] != nil { return "its data is null and no error says why" }
    return "it has neither data nor errors"
  }

  /// Statuses after which the same request may go through: an error body changes nothing there.
  private static func isTransient(_ status: Int) -> Bool {
    [408, 425, 429, 502, 503, 504].contains(status)
  }

  /// Where servers put their codes: `extensions.code` or a top-level `errorType`.
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

  /// A refusal is an answer whatever its body: a gateway in front of upstream writes HTML.
  private func refusal(_ status: Int) -> UpstreamResponse? {
    guard let permission = PermissionProblem(status: status),
      let document = try? JSONDocument(
        text: #"{"errors":[{"message":"Upstream answered with status \#(status)."}]}"#)
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

  /// Whoever asks for more than a day means "not at all".
  private static let retryAfterMax = Duration.seconds(86_400)

  private func excerpt(_ response: HTTPClientResponse) -> String {
    String(decoding: response.body.prefix(Self.excerptBytesMax), as: UTF8.self)
  }

  /// Enough of a body for a log line.
  private static let excerptBytesMax = 200
}
