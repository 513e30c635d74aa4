/// A service that delivers notifications to devices.
///
/// All calls can be repeated safely: a batch has a key, a device its token.
package protocol PushSender: Sendable {
  /// The name in settings. Device ids from another sender are meaningless to this one.
  var name: String { get }
  /// Maximum user ids of one batch.
  var userIDsMax: Int { get }

  func send(_ batch: PushBatch) async throws(PushFault) -> PushReceipt

  /// Binds a device to its user, and unbinds it from any other user.
  ///
  /// - Returns: the sender's id of the device, for ``unregister(_:remoteID:)``; nil if it has none.
  func register(_ device: PushDevice) async throws(PushFault) -> String?

  /// Unbinds a device from its user. An unknown device is not an error.
  func unregister(_ device: PushDevice, remoteID: String?) async throws(PushFault)
}

/// The part of a notification's receivers that is sent in one call.
package struct PushBatch: Sendable {
  /// The idempotency key: a UUID, the same for every attempt.
  package let key: String
  package let message: PushMessage
  package let userIDs: [String]
}

/// A device that a user can be reached on.
package struct PushDevice: Hashable, Sendable {
  package let userID: String
  /// The platform as given at the device's registration.
  package let platform: String
  /// The token from the platform's push service.
  package let token: String
}

/// The sender's response to an accepted batch.
package struct PushReceipt: Hashable, Sendable {
  /// The sender's id of the batch; nil if it has none.
  package let remoteID: String?
  /// User ids without a device at the sender.
  package let invalidIDs: [String]
  /// Whether the sender has no device of any of the users.
  package let reachedNoDevice: Bool

  package init(remoteID: String?, invalidIDs: [String] = [], reachedNoDevice: Bool = false) {
    self.remoteID = remoteID
    self.invalidIDs = invalidIDs
    self.reachedNoDevice = reachedNoDevice
  }
}

/// Why a push sender failed, in classes that decide what follows. Reasons are for operators, and
/// contain no secrets.
package enum PushFault: Error, Hashable, Sendable {
  /// Nothing was sent: name resolution, connection or TLS failed, or the circuit breaker is open.
  /// All deliveries wait for the sender.
  case notSent(reason: String)
  /// The sender rejects our credentials. All deliveries wait for the operator.
  case credentialsRefused(reason: String)
  /// A temporary failure: this attempt counts, and a later one can succeed.
  case transient(retryAfter: Duration?, reason: String)
  /// A permanent failure.
  case permanent(reason: String)
  /// Sent, without a usable response. Retrying with the same key is safe.
  case unknown(reason: String)
}

/// A sender that sends nothing: notifications remain in the outbox and can be read there. For
/// development, and for teams whose own service reads the outbox.
package struct OutboxSender: PushSender {
  package static let name = "outbox"

  package init() {}

  package var name: String { Self.name }
  /// Smaller batches have no advantage.
  package var userIDsMax: Int { 2_000 }

  package func send(_ batch: PushBatch) async throws(PushFault) -> PushReceipt {
    PushReceipt(remoteID: nil)
  }

  package func register(_ device: PushDevice) async throws(PushFault) -> String? { nil }

  package func unregister(_ device: PushDevice, remoteID: String?) async throws(PushFault) {}
}
