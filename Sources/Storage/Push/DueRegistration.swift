package import Model

/// A registration that the sender is to be told of.
package struct DueRegistration: Hashable, Sendable {
  package let id: Int64
  /// What was asked may change while the sender is told: an end counts for this version alone.
  package let version: Int64
  package let user: String
  package let platform: String
  package let token: String
  package let isLeaving: Bool
  /// Whom ``remoteID`` is from.
  package let sender: String?
  package let remoteID: String?
  package let attempts: Int
}

/// What telling the sender came to.
package enum RegistrationEnd: Hashable, Sendable {
  case told(sender: String, remoteID: String?)
  case failed(reason: String)
  case waits(until: Timestamp, isAttempt: Bool, reason: String)
}
