package import Model

/// The registration of a device's user for push notifications.
package struct PushRegistration: Hashable, Sendable {
  package enum State: String, Hashable, Sendable, CaseIterable {
    /// The registration is still to be sent to the push service.
    case queued
    case registered
    /// The push service refuses the device or no longer knows it; it must be registered again.
    case failed
    /// The removal is still to be sent to the push service.
    case leaving
  }

  package let device: String
  package let user: String
  package let state: State
  /// The reason why it failed or has to wait.
  package let reason: String?
}

/// The result of requesting a registration.
package enum RegistrationReceipt: Hashable, Sendable {
  case kept(PushRegistration)
  /// The device has no push token, or no user.
  case lacksToken
  case deviceGone
}

/// A registration that is due to be synchronised with the push service.
package struct DueRegistration: Hashable, Sendable {
  package let id: Int64
  /// The version of the request, which can change during the synchronisation: the result counts only for
  /// this version.
  package let version: Int64
  package let user: String
  package let platform: String
  package let token: String
  package let isLeaving: Bool
  /// The push service that issued ``remoteID``.
  package let sender: String?
  package let remoteID: String?
  package let attempts: Int
}

/// The result of synchronising a registration with the push service.
package enum RegistrationEnd: Hashable, Sendable {
  case succeeded(sender: String, remoteID: String?)
  case failed(reason: String)
  case waits(until: Timestamp, isAttempt: Bool, reason: String)
}
