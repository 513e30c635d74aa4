package import HTTPWire

/// How many requests one caller may send in a window of time.
package struct RateLimit: Sendable {
  package var requestsMax: Int
  /// From a caller's first request on.
  package var window: Duration
  /// Whether a request is not counted, as those by which a service is watched.
  package var isExempt: @Sendable (borrowing RequestHead) -> Bool

  package init(
    requestsMax: Int, window: Duration,
    isExempt: @escaping @Sendable (borrowing RequestHead) -> Bool = { _ in false }
  ) {
    self.requestsMax = requestsMax
    self.window = window
    self.isExempt = isExempt
  }
}
