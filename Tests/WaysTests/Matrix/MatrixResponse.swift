import TestSupport

/// An answer without what is different each time.
struct MatrixResponse: Sendable, Equatable, CustomStringConvertible {
  let status: Int
  /// Names in lower case, with their values.
  let fields: [String]
  let body: String
  /// No part of what makes two answers the same: it moves with the caller's own requests.
  let freshness: MatrixFreshness

  /// Fields that differ from one answer to the next, whoever asks: the moment, the request's own
  /// name, the head of the log, and how old the caller's own copy is.
  private static let passing: Set<String> = [
    "date", "request-id", "sync-cursor", "age", "server-timing", "cache-status", "connection",
    "x-amz-request-id",
  ]

  init(_ response: RawResponse) {
    status = response.status
    freshness = MatrixFreshness(response)
    // Sorted, since an answer that lies ready has its fields in another order.
    fields = response.headers.filter { !Self.passing.contains($0.0) }.map { "\($0.0): \($0.1)" }
      .sorted()
    let requestID = response["request-id"] ?? ""
    body = Self.withoutCursors(
      requestID.isEmpty ? response.text : response.text.replacing(requestID, with: "…"))
  }

  init(status: Int, firstEvent: EventClient.Event?) {
    self.status = status
    freshness = .none
    fields = [firstEvent?.event ?? "none"]
    body = Self.withoutCursors(firstEvent?.data ?? "")
  }

  private init(status: Int, fields: [String], body: String, freshness: MatrixFreshness) {
    self.status = status
    self.fields = fields
    self.body = body
    self.freshness = freshness
  }

  static func == (left: Self, right: Self) -> Bool {
    left.status == right.status && left.fields == right.fields && left.body == right.body
  }

  /// Cursors tell how far the whole log has come, to everybody.
  private static func withoutCursors(_ text: String) -> String {
    text.replacing(#/"(cursor|requestId)":"[^"]*"/#, with: { "\"\($0.output.1)\":\"…\"" })
  }

  var text: String { "\(status)\n\(fields.joined(separator: "\n"))\n\(body)" }

  var description: String { text }

  /// Without the digests of contents, which differ as the ids in them do.
  func comparable(
    _ comparison: MatrixAsk.Comparison, replacing replace: (String) -> String = { $0 }
  ) -> MatrixResponse {
    let names = fields.map { $0.prefix { $0 != ":" } }.map(String.init)
    if comparison == .form {
      return MatrixResponse(status: status, fields: names, body: "", freshness: freshness)
    }
    let kept = fields.filter { !$0.hasPrefix("etag:") }
    return MatrixResponse(
      status: status, fields: kept.map(replace),
      body: replace(
        body.replacing(#/"(_rev|rev|etag)":"[^"]*"/#, with: { "\"\($0.output.1)\":\"…\"" })),
      freshness: freshness)
  }
}
