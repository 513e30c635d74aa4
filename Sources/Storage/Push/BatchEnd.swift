package import Model

/// What an attempt at a batch came to.
package enum BatchEnd: Hashable, Sendable {
  /// - Parameter invalidIDs: that the sender knows no device of.
  case sent(remoteID: String?, invalidIDs: [String])
  /// None of its ids has a device there.
  case invalid
  case failed(reason: String)
  /// It waits for another attempt.
  ///
  /// - Parameters:
  ///   - isAttempt: this one counts.
  ///   - isStrike: it counts against the batch itself: others succeeded meanwhile.
  case waits(until: Timestamp, isAttempt: Bool, isStrike: Bool, reason: String)
}
