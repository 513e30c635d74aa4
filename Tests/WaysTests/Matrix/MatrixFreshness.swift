import TestSupport

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
