import GRDB
package import Model

/// Push registrations and their synchronisation with the push service. Changes that were confirmed to a
/// client survive a power failure.
extension Store {
  /// Registers a device's user for notifications.
  package func registerForPush(
    device: String
  ) async throws(StorageError) -> RegistrationReceipt {
    try await writer.write(.powerFailure) { database, _ in
      try RegistrationTable(database: database).register(device)
    }
  }

  package func unregisterFromPush(device: String) async throws(StorageError) {
    try await writer.write(.powerFailure) { database, _ in
      try RegistrationTable(database: database).leave(device)
    }
  }

  package func pushRegistration(
    of device: String
  ) async throws(StorageError) -> PushRegistration? {
    try await reader.read { try RegistrationTable(database: $0).find(device) }
  }

  /// Queues registrations that were made with another push service. Call it once after a start.
  ///
  /// - Parameters:
  ///   - sender: the current push service.
  ///   - waitMax: the longest time that any registration can wait.
  package func recoverRegistrations(
    sender: String, at now: Timestamp, waitMax: Duration
  ) async throws(StorageError) {
    try await writer.write { database, _ in
      try RegistrationTable(database: database).recover(sender: sender, at: now, waitMax: waitMax)
    }
  }

  /// Returns due registrations, longest due first.
  package func dueRegistrations(
    at now: Timestamp, limit: Int
  ) async throws(StorageError) -> [DueRegistration] {
    try await reader.read { try RegistrationTable(database: $0).due(at: now, limit: limit) }
  }

  /// Returns when the next registration is due; nil if all are synchronised.
  package func nextRegistrationDue() async throws(StorageError) -> Timestamp? {
    try await reader.read { try RegistrationTable(database: $0).nextDue() }
  }

  package func settle(
    _ registration: DueRegistration, as end: RegistrationEnd
  ) async throws(StorageError) {
    try await writer.write { database, _ in
      try RegistrationTable(database: database).settle(registration, as: end)
    }
  }
}
