import TestSupport

/// A response without the parts that differ each time.
struct MatrixResponse: Sendable, Equatable, CustomStringConvertible {
  let status: Int
  /// The header fields, names in lower case.
  let fields: [String]
  let body: String
  /// Not part of the comparison: it changes with the caller's own requests.
  let freshness: MatrixFreshness

  /// Fields that differ between responses for any caller: the date, the request's id, the log's head, and the
  /// age of the caller's own copy.
  private static let passing: Set<String> = [
    "date", "request-id", "sync-cursor", "age", "server-timing", "cache-status", "connection",
    "x-amz-request-id",
  ]

  init(_ response: RawResponse) {
    status = response.status
    freshness = MatrixFreshness(response)
    // Sorted, since a cached response has its fields in another order.
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

  /// Cursors include the position of the whole log, for every caller.
  private static func withoutCursors(_ text: String) -> String {
    text.replacing(#/"(cursor|requestId)":"[^"]*"/#, with: { "\"\($0.output.1)\":\"…\"" })
  }

  var text: String { "\(status)\n\(fields.joined(separator: "\n"))\n\(body)" }

  var description: String { text }

  /// The response without digests of content, which differ as the ids in it do.
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

/// The freshness that a response reports of the copy that it was made from.
struct MatrixFreshness: Sendable, CustomStringConvertible {
  /// `Cache-Status` without its seconds; nil if the response has none.
  let status: String?
  /// The age in seconds.
  let age: Int?

  /// The freshness of a response that is not made from a copy.
  static let none = MatrixFreshness(status: nil, age: nil)

  private init(status: String?, age: Int?) {
    self.status = status
    self.age = age
  }

  init(_ response: RawResponse) {
    status = response["cache-status"]?.replacing(#/; ttl=-?\d+/#, with: "")
    age = response["age"].flatMap { Int($0) }
  }

  var isHit: Bool { status?.contains("; hit") == true }

  var description: String { "\(status ?? "no status"), age \(age.map(String.init) ?? "none")" }
}
