import GRDB
package import Model

/// Accounts and sessions that are kept here. What a client was told of them survives a power
/// failure: a token that was exchanged must not come back, nor an old password.
extension Store {
  /// - Returns: false where the address has an account already.
  package func create(_ account: Account) async throws(StorageError) -> Bool {
    try await writer.write(.powerFailure) { database, _ in
      try AccountTable(database: database).insert(account)
    }
  }

  /// - Parameter email: in the spelling that is compared.
  package func account(email: String) async throws(StorageError) -> Account? {
    try await reader.read { try AccountTable(database: $0).find(email: email) }
  }

  package func account(id: String) async throws(StorageError) -> Account? {
    try await reader.read { try AccountTable(database: $0).find(id: id) }
  }

  /// How the stored passwords are hashed, each way once, as what comes before the salt.
  package func hashingWays() async throws(StorageError) -> [String] {
    try await reader.read { try AccountTable(database: $0).hashingWays() }
  }

  /// Stores another hash of the same password.
  ///
  /// - Returns: false where the hash is not this one any more.
  package func replacePasswordHash(
    of account: String, from old: String, to new: String
  ) async throws(StorageError) -> Bool {
    try await writer.write { database, _ in
      try AccountTable(database: database).replaceHash(of: account, from: old, to: new)
    }
  }

  /// Sets another password and ends the account's sessions.
  ///
  /// - Parameter session: the one that goes on; nil ends all.
  /// - Returns: false, with nothing done, where the hash is not the old one any more.
  package func changePassword(
    of account: String, from old: String, to new: String, keeping session: String?
  ) async throws(StorageError) -> Bool {
    try await writer.write(.powerFailure) { database, _ in
      guard try AccountTable(database: database).replaceHash(of: account, from: old, to: new)
      else { return false }
      try RefreshSessionTable(database: database).endAll(of: account, but: session)
      return true
    }
  }

  /// Keeps a new session of somebody whose password was found right.
  ///
  /// - Parameters:
  ///   - passwordHash: what the password was held against.
  ///   - sessionsMax: of its account, this one counted; those unused longest go.
  /// - Returns: false, with nothing done, where the hash is not this one any more.
  package func open(
    _ session: RefreshSession, passwordHash: String, sessionsMax: Int
  ) async throws(StorageError) -> Bool {
    try await writer.write(.powerFailure) { database, _ in
      let account = try AccountTable(database: database).find(id: session.account)
      guard account?.passwordHash == passwordHash else { return false }
      try RefreshSessionTable(database: database).insert(session, max: sessionsMax)
      return true
    }
  }

  /// Exchanges a refresh token for the next, or ends the session of one that was exchanged before.
  package func rotate(
    _ rotation: RefreshRotation
  ) async throws(StorageError) -> RefreshOutcome {
    try await writer.write(.powerFailure) { database, _ in
      try RefreshSessionTable(database: database).rotate(rotation)
    }
  }

  /// - Returns: the session that has ended; nil where it was over already.
  package func endSession(
    familyDigest: String
  ) async throws(StorageError) -> (session: String, account: String)? {
    try await writer.write(.powerFailure) { database, _ in
      try RefreshSessionTable(database: database).end(familyDigest)
    }
  }

  /// Forgets sessions that are over, some at a time.
  ///
  /// - Returns: how many went.
  package func removeSessions(
    expiredBy now: Timestamp, limit: Int
  ) async throws(StorageError) -> Int {
    try await writer.write { database, _ in
      try RefreshSessionTable(database: database).removeExpired(at: now, limit: limit)
    }
  }

  /// When an account last signed in from a network, both by their digests; nil for never.
  package func seen(
    account: String, network: String
  ) async throws(StorageError) -> Timestamp? {
    try await reader.read {
      try AccountNetworkTable(database: $0).seen(account: account, network: network)
    }
  }

  /// - Parameter networksMax: of one account; those not seen longest go.
  package func note(
    account: String, network: String, at now: Timestamp, networksMax: Int
  ) async throws(StorageError) {
    try await writer.write { database, _ in
      try AccountNetworkTable(database: database)
        .note(account: account, network: network, at: now, max: networksMax)
    }
  }

  /// The keys that sign tokens, the oldest first.
  package func signingKeys() async throws(StorageError) -> [SealedKey] {
    try await reader.read { try SigningKeyTable(database: $0).all() }
  }

  package func removeSigningKeys(_ ids: [String]) async throws(StorageError) {
    try await writer.write { database, _ in
      for id in ids { try SigningKeyTable(database: database).remove(id) }
    }
  }

  /// Keeps a key and no other.
  ///
  /// - Returns: how many others there were.
  package func replaceSigningKeys(with key: SealedKey) async throws(StorageError) -> Int {
    try await writer.write(.powerFailure) { database, _ in
      let table = SigningKeyTable(database: database)
      let count = try table.removeAll()
      try table.insert(key)
      return count
    }
  }

  package func keep(_ key: SealedKey) async throws(StorageError) {
    try await writer.write(.powerFailure) { database, _ in
      try SigningKeyTable(database: database).insert(key)
    }
  }
}
