/// The circuit breakers of one origin as operators see them.
package struct BreakerReport: Hashable, Sendable {
  package enum State: String, Sendable {
    /// Requests are sent.
    case closed
    /// Requests are refused without being sent.
    case open
    /// One request is in progress, whose outcome decides.
    case probing
  }

  /// The breaker of the whole origin.
  package let origin: State
  /// The operations whose own breaker is not closed, in alphabetical order.
  package let operations: [String]
}
