import GRDB
package import Model

/// The idempotency key of a list of local writes or corrections.
package struct LocalWriteKey: Sendable {
  /// The scope of own data that the key belongs to: the device's, or the user's without a device; that of
  /// the operator's role for corrections.
  package let owner: Scope
  /// As the client sent it.
  package let key: String
  /// Distinguishes a replay from another request with the same key.
  package let fingerprint: PayloadFingerprint
  /// Encodes the outcomes for replays.
  package let encode: @Sendable ([WriteOutcome]) throws -> [UInt8]

  package init(
    owner: Scope, key: String, fingerprint: PayloadFingerprint,
    encode: @escaping @Sendable ([WriteOutcome]) throws -> [UInt8]
  ) {
    self.owner = owner
    self.key = key
    self.fingerprint = fingerprint
    self.encode = encode
  }
}

/// The rows of known idempotency keys of local writes, each with the encoded outcomes. A row is written
/// in the transaction of its writes, so a key is known exactly if they took effect.
struct LocalWriteKeys {
  let database: Database

  static func migrate(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE local_write (
          kind INTEGER NOT NULL,
          subject TEXT NOT NULL,
          idempotency_key TEXT NOT NULL,
          fingerprint TEXT NOT NULL,
          outcomes TEXT NOT NULL,
          made INTEGER NOT NULL,
          PRIMARY KEY (kind, subject, idempotency_key)
        ) WITHOUT ROWID;
        CREATE INDEX local_write_by_age ON local_write (made);
        """)
    try UsageSchema.countWriteKeys(db)
  }

  /// Returns the encoded outcomes of the writes under a key; nil for an unknown key.
  ///
  /// - Throws: ``WriteRefusal/keyReused`` if the key was used with another request.
  func replay(_ key: LocalWriteKey) throws -> [UInt8]? {
    let statement = try PreparedStatement(
      database,
      """
      SELECT fingerprint, outcomes FROM local_write \
      WHERE kind = ?1 AND subject = ?2 AND idempotency_key = ?3
      """)
    bind(key, to: statement)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    guard statement.string(0) == Hexadecimal.encode(key.fingerprint.bytes) else {
      throw WriteRefusal.keyReused
    }
    return statement.bytes(1) ?? []
  }

  func insert(_ key: LocalWriteKey, outcomes: [UInt8], at now: Timestamp) throws {
    let statement = try PreparedStatement(
      database,
      """
      INSERT INTO local_write (kind, subject, idempotency_key, fingerprint, outcomes, made) \
      VALUES (?1, ?2, ?3, ?4, ?5, ?6)
      """)
    bind(key, to: statement)
    statement.bind(Hexadecimal.encode(key.fingerprint.bytes), at: 4)
    statement.bind(outcomes, at: 5)
    statement.bind(now.milliseconds, at: 6)
    try statement.run()
  }

  func removeAll(of device: String) throws {
    let statement = try PreparedStatement(
      database, "DELETE FROM local_write WHERE kind = ?1 AND subject = ?2")
    statement.bind(Int64(Scope.Kind.device.rawValue), at: 1)
    statement.bind(device, at: 2)
    try statement.run()
  }

  /// Removes keys made before a moment.
  ///
  /// - Returns: whether there can be more.
  func forget(madeBefore moment: Timestamp, limit: Int) throws -> Bool {
    let statement = try PreparedStatement(
      database,
      """
      DELETE FROM local_write WHERE (kind, subject, idempotency_key) IN \
      (SELECT kind, subject, idempotency_key FROM local_write WHERE made < ?1 \
      ORDER BY made LIMIT ?2)
      """)
    statement.bind(moment.milliseconds, at: 1)
    statement.bind(Int64(limit), at: 2)
    try statement.run()
    return database.changesCount == limit
  }

  private func bind(_ key: LocalWriteKey, to statement: PreparedStatement) {
    statement.bind(Int64(key.owner.kind.rawValue), at: 1)
    statement.bind(key.owner.subject, at: 2)
    statement.bind(key.key, at: 3)
  }
}
