import HTTPWire

/// The requests whose answer depends on nothing but target and `Authorization`, so that the bytes of
/// both stand for it.
struct PlainRequests: Sendable {
  /// Field names that make a request one for the router: credentials and partitions beside
  /// `Authorization`, and `Origin` where CORS is on.
  private let excluded: [String]

  init(forwardedNames: [String], hasCORS: Bool) {
    excluded = forwardedNames.filter { $0 != "authorization" } + (hasCORS ? ["origin"] : [])
  }

  func contains(_ head: borrowing RequestHead) -> Bool {
    guard head.method == .get || head.method == .head, head.keepsAlive, !head.hasBody,
      !head.fields.contains("cache-control"), !head.fields.contains("device-token"),
      !head.fields.contains("if-match")
    else { return false }
    for name in excluded where head.contains(name) { return false }
    return true
  }

  static func hash(_ target: ArraySlice<UInt8>, _ authorization: ArraySlice<UInt8>) -> Int {
    var hasher = Hasher()
    target.withUnsafeBytes { hasher.combine(bytes: $0) }
    authorization.withUnsafeBytes { hasher.combine(bytes: $0) }
    return hasher.finalize()
  }
}
