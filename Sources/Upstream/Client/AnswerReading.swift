import HTTPClient
import HTTPTypes
import LosslessJSON

/// Tells a GraphQL answer from everything else that comes back (GraphQL over HTTP, section 6).
///
/// The response's own media type decides, never what was asked for: deployed servers answer
/// `application/json` to a request for the newer type.
enum AnswerReading {
  private static let excerptBytesMax = 200

  static func answer(
    _ response: HTTPClientResponse, rules: any DialectRules
  ) throws(UpstreamFailure) -> UpstreamAnswer {
    let status = response.status.code
    if let document = document(of: response) {
      let answer = UpstreamAnswer(
        document: document, status: status,
        permission: permission(document, status: status, rules: rules))
      if let answer { return answer }
    }
    switch status {
    case 401, 403:
      return try refusal(status: status)
    case 200..<300:
      throw .malformed(status: status, excerpt: excerpt(of: response.body))
    default:
      throw .status(status, retryAfter: retryAfter(response.fields[.retryAfter]))
    }
  }

  /// The body as JSON if its media type says that it may be GraphQL.
  private static func document(of response: HTTPClientResponse) -> JSONDocument? {
    let type = response.fields[.contentType]?.split(separator: ";").first?
      .lowercased().filter { $0 != " " && $0 != "\t" }
    guard type == "application/json" || type == "application/graphql-response+json" else {
      return nil
    }
    return try? JSONDocument(response.body)
  }

  /// The status, or the code of any error.
  private static func permission(
    _ document: JSONDocument, status: Int, rules: any DialectRules
  ) -> PermissionProblem? {
    if status == 401 { return .unauthenticated }
    if status == 403 { return .forbidden }
    guard document.root.kind == .object, let errors = document.root["errors"],
      errors.kind == .array
    else { return nil }
    for error in errors.elements where error.kind == .object {
      if let code = rules.code(of: error), let problem = rules.permission(code: code) {
        return problem
      }
    }
    return nil
  }

  /// A refusal without a GraphQL body is an answer all the same.
  private static func refusal(status: Int) throws(UpstreamFailure) -> UpstreamAnswer {
    let body = Array(#"{"errors":[{"message":"refused with status \#(status)"}]}"#.utf8)
    guard let document = try? JSONDocument(body),
      let answer = UpstreamAnswer(
        document: document, status: status,
        permission: status == 401 ? .unauthenticated : .forbidden)
    else { throw .status(status, retryAfter: nil) }
    return answer
  }

  /// Seconds alone: a date would need a clock, and nobody sends one here.
  private static func retryAfter(_ text: String?) -> Duration? {
    text.flatMap { Int($0) }.map { .seconds(max(0, $0)) }
  }

  private static func excerpt(of body: [UInt8]) -> String {
    String(decoding: body.prefix(excerptBytesMax), as: UTF8.self)
  }
}
