import TestSupport

/// What an answer says of the copy that it was made of.
struct MatrixFreshness: Sendable, CustomStringConvertible {
  /// `Cache-Status` without its seconds; nil where the answer has none.
  let status: String?
  /// Seconds.
  let age: Int?

  /// Of what is no copy of anything.
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
