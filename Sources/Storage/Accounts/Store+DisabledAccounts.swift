import GRDB
package import Model

/// Disabled accounts. What was confirmed to an operator survives a power failure.
extension Store {
  /// Returns the ids of all disabled accounts.
  package func disabledAccounts() async throws(StorageError) -> Set<String> {
    try await reader.read { try DisabledAccountTable(database: $0).all() }
  }

  /// Disables an account. From this commit on it opens and renews no session, and no mutation of its devices
  /// is claimed for sending.
  ///
  /// - Returns: whether there is such an account.
  package func disableAccount(
    _ id: String, at now: Timestamp
  ) async throws(StorageError) -> Bool {
    try await writer.write(.powerFailure) { database, _ in
      guard try AccountTable(database: database).find(id: id) != nil else { return false }
      try DisabledAccountTable(database: database).insert(id, at: now)
      return true
    }
  }

  /// - Returns: whether there is such an account.
  package func enableAccount(_ id: String) async throws(StorageError) -> Bool {
    try await writer.write(.powerFailure) { database, _ in
      guard try AccountTable(database: database).find(id: id) != nil else { return false }
      try DisabledAccountTable(database: database).remove(id)
      return true
    }
  }

  /// Returns the ids of all devices of a user.
  package func deviceIDs(ofUser user: String) async throws(StorageError) -> [String] {
    try await longReader.read { database in
      let statement = try PreparedStatement(
        database, "SELECT id FROM device WHERE owner = ?1 ORDER BY id")
      statement.bind(user, at: 1)
      defer { statement.reset() }
      var devices: [String] = []
      while try statement.step() { devices.append(statement.string(0)) }
      return devices
    }
  }
}
