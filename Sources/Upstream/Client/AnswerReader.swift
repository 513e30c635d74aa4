import HTTPClient
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model

/// Decides what an HTTP answer says, by the type it declares for itself and never by what was
/// asked for (GraphQL over HTTP, "Processing a response").
struct AnswerReader {
  let bytesMax: Int
  let clock: WallClock

  func read(_ response: HTTPClientResponse) throws(UpstreamFailure) -> UpstreamAnswer {
    let status = response.status.code
    guard response.body.count <= bytesMax else { throw .tooLarge(bytesMax: bytesMax) }
    if let document = document(of: response),
      let answer = UpstreamAnswer(
        document: document, status: status,
        permission: permission(status: status, document: document))
    {
      if answer.data == nil, answer.permission == nil, Self.isTransient(status) {
        throw .status(status, retryAfter: retryAfter(response))
      }
      return answer
    }
    if let answer = refusal(status) { return answer }
    guard (200..<300).contains(status) else {
      throw .status(status, retryAfter: retryAfter(response))
    }
    throw .malformed(status: status, excerpt: excerpt(response))
  }

  /// The body as JSON, if its type lets it be a GraphQL answer and it is well-formed.
  private func document(of response: HTTPClientResponse) -> JSONDocument? {
    let mediaType = response.fields[.contentType]?.split(separator: ";").first
      .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
    guard mediaType == "application/graphql-response+json" || mediaType == "application/json"
    else { return nil }
    return try? JSONDocument(response.body, limits: JSONLimits(bytesMax: bytesMax))
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
  private func refusal(_ status: Int) -> UpstreamAnswer? {
    guard let permission = PermissionProblem(status: status),
      let document = try? JSONDocument(
        text: #"{"errors":[{"message":"Upstream answered with status \#(status)."}]}"#)
    else { return nil }
    return UpstreamAnswer(document: document, status: status, permission: permission)
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
