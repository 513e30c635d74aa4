/// What a sign-out does to what the user's device has queued; the raw value is the setting's.
package enum SignOutPolicy: String, Hashable, Sendable, CaseIterable {
  /// Everything still goes.
  case drain
  /// What was never sent is discarded; what may have reached upstream is parked.
  case drop
  /// Everything that waits is parked.
  case park
}
