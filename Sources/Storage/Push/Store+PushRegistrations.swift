import GRDB
package import Model

/// Who is reached on which device, and what the sender is to be told of it. What a client was told
/// survives a power failure.
extension Store {
  /// Ties a device to its user for notifications.
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

  /// For the first time after a start.
  ///
  /// - Parameters:
  ///   - sender: who is told from now on.
  ///   - waitMax: the longest that any registration waits.
  package func recoverRegistrations(
    sender: String, at now: Timestamp, waitMax: Duration
  ) async throws(StorageError) {
    try await writer.write { database, _ in
      try RegistrationTable(database: database).recover(sender: sender, at: now, waitMax: waitMax)
    }
  }

  /// Those whose time has come, the longest due first.
  package func dueRegistrations(
    at now: Timestamp, limit: Int
  ) async throws(StorageError) -> [DueRegistration] {
    try await reader.read { try RegistrationTable(database: $0).due(at: now, limit: limit) }
  }

  /// When the next is due; nil where the sender has been told of all.
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
