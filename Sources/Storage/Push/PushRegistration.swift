/// Whether a user is reached on a device.
package struct PushRegistration: Hashable, Sendable {
  package enum State: String, Hashable, Sendable, CaseIterable {
    /// The sender is still to be told.
    case queued
    case registered
    /// The sender refuses the device, or knows it no more: to be registered again.
    case failed
    /// The sender is still to be told that it is over.
    case leaving
  }

  package let device: String
  package let user: String
  package let state: State
  /// Why it failed, or has to wait.
  package let reason: String?
}

/// What came of asking for a registration.
package enum RegistrationReceipt: Hashable, Sendable {
  case kept(PushRegistration)
  /// The device has no push token, or no user.
  case lacksToken
  case deviceGone
}
