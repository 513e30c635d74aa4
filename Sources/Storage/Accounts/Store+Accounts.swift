import GRDB
package import Model

/// Local accounts and their sessions. Changes that were confirmed to a client survive a power failure: an
/// exchanged token or an old password must not become valid again.
extension Store {
  /// - Returns: false if the address already has an account.
  package func create(_ account: Account) async throws(StorageError) -> Bool {
    try await writer.write(.powerFailure) { database, _ in
      try AccountTable(database: database).insert(account)
    }
  }

  /// Deletes an account with its sessions.
  ///
  /// - Returns: whether there was one.
  package func removeAccount(id: String) async throws(StorageError) -> Bool {
    try await writer.write(.powerFailure) { database, _ in
      try AccountTable(database: database).remove(id: id)
    }
  }

  /// - Parameter email: the address in its normalised spelling.
  package func account(email: String) async throws(StorageError) -> Account? {
    try await reader.read { try AccountTable(database: $0).find(email: email) }
  }

  package func account(id: String) async throws(StorageError) -> Account? {
    try await reader.read { try AccountTable(database: $0).find(id: id) }
  }

  /// Returns accounts in the order of their ids, for operators.
  ///
  /// - Parameters:
  ///   - after: the id before the page; empty for the first page.
  ///   - part: a text that the address contains, in normalised spelling; empty for any.
  ///   - now: sessions that have expired by then do not count.
  package func accounts(
    after: String, containing part: String, at now: Timestamp, limit: Int
  ) async throws(StorageError) -> [AccountSummary] {
    try await longReader.read {
      try AccountTable(database: $0).page(after: after, containing: part, at: now, limit: limit)
    }
  }

  package func accountSummary(
    id: String, at now: Timestamp
  ) async throws(StorageError) -> AccountSummary? {
    try await reader.read {
      try AccountTable(database: $0)
        .page(id: id, after: "", containing: "", at: now, limit: 1).first
    }
  }

  /// Ends all sessions of an account.
  ///
  /// - Returns: the number of sessions ended; nil for an unknown account.
  package func endSessions(of account: String) async throws(StorageError) -> Int? {
    try await writer.write(.powerFailure) { database, _ in
      guard try AccountTable(database: database).find(id: account) != nil else { return nil }
      return try RefreshSessionTable(database: database).endAll(of: account, but: nil)
    }
  }

  /// Returns the distinct prefixes of the stored password hashes before the salt: algorithm and cost.
  package func hashingWays() async throws(StorageError) -> [String] {
    try await reader.read { try AccountTable(database: $0).hashingWays() }
  }

  /// Stores another hash of the same password.
  ///
  /// - Returns: false if the stored hash is no longer `old`.
  package func replacePasswordHash(
    of account: String, from old: String, to new: String
  ) async throws(StorageError) -> Bool {
    try await writer.write { database, _ in
      try AccountTable(database: database).replaceHash(of: account, from: old, to: new)
    }
  }

  /// Sets another password and ends the account's sessions.
  ///
  /// - Parameter session: the session to keep; nil ends all.
  /// - Returns: false, with nothing changed, if the stored hash is no longer `old`.
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

  /// Stores a new session after a successful password check.
  ///
  /// - Parameters:
  ///   - passwordHash: the hash that the password was checked against.
  ///   - sessionsMax: maximum sessions of the account, including this one; beyond it, the least recently
  ///     used are removed.
  /// - Returns: false, with nothing changed, if the stored hash is no longer `passwordHash`, or the account was
  ///   disabled.
  package func open(
    _ session: RefreshSession, passwordHash: String, sessionsMax: Int
  ) async throws(StorageError) -> Bool {
    try await writer.write(.powerFailure) { database, _ in
      let account = try AccountTable(database: database).find(id: session.account)
      guard let account, account.passwordHash == passwordHash, !account.isDisabled else {
        return false
      }
      try RefreshSessionTable(database: database).insert(session, max: sessionsMax)
      return true
    }
  }

  /// Exchanges a refresh token for the next one, or ends the session of a token that was exchanged before.
  package func rotate(
    _ rotation: RefreshRotation
  ) async throws(StorageError) -> RefreshOutcome {
    try await writer.write(.powerFailure) { database, _ in
      try RefreshSessionTable(database: database).rotate(rotation)
    }
  }

  /// - Returns: the ended session; nil if it had already ended.
  package func endSession(
    familyDigest: String
  ) async throws(StorageError) -> (session: String, account: String)? {
    try await writer.write(.powerFailure) { database, _ in
      try RefreshSessionTable(database: database).end(familyDigest)
    }
  }

  /// Removes expired sessions, at most `limit`.
  ///
  /// - Returns: the number of sessions removed.
  package func removeSessions(
    expiredBy now: Timestamp, limit: Int
  ) async throws(StorageError) -> Int {
    try await writer.write { database, _ in
      try RefreshSessionTable(database: database).removeExpired(at: now, limit: limit)
    }
  }

  /// Returns when an account last signed in from a network, both given as digests; nil if it never did.
  package func seen(
    account: String, network: String
  ) async throws(StorageError) -> Timestamp? {
    try await reader.read {
      try AccountNetworkTable(database: $0).seen(account: account, network: network)
    }
  }

  /// Records a sign-in of an account from a network, both given as digests.
  ///
  /// - Parameter networksMax: maximum networks of one account; the least recently seen are removed.
  package func note(
    account: String, network: String, at now: Timestamp, networksMax: Int
  ) async throws(StorageError) {
    try await writer.write { database, _ in
      try AccountNetworkTable(database: database)
        .note(account: account, network: network, at: now, max: networksMax)
    }
  }

  /// Returns the keys that sign tokens, oldest first.
  package func signingKeys() async throws(StorageError) -> [SealedKey] {
    try await reader.read { try SigningKeyTable(database: $0).all() }
  }

  package func removeSigningKeys(_ ids: [String]) async throws(StorageError) {
    try await writer.write { database, _ in
      for id in ids { try SigningKeyTable(database: database).remove(id) }
    }
  }

  /// Replaces all signing keys with one.
  ///
  /// - Returns: the number of keys replaced.
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
