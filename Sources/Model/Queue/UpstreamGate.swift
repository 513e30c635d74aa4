/// What may go to one upstream at once: a bound on what is in flight, one probe at a time while it
/// is away, and a gentle start after it came back.
package struct UpstreamGate: Hashable, Sendable {
  /// The most in flight at once.
  package let concurrencyMax: Int
  package private(set) var inflight = 0
  /// Nil while upstream is reachable, else when the next probe is due.
  package private(set) var nextProbe: Timestamp?
  /// When it last answered well; see ``DeviceQueue/settling(_:as:othersSucceeded:at:policy:using:)``.
  package private(set) var lastSucceeded: Timestamp?

  package init(concurrencyMax: Int) {
    self.concurrencyMax = max(1, concurrencyMax)
  }
}
