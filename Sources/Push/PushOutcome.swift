/// What became of a notification for one user id.
package enum PushOutcome: String, Sendable, CaseIterable {
  case queued
  /// The sender took it.
  case sent
  /// The sender knows no device of this user.
  case invalid
  case failed
}
