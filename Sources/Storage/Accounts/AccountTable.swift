import GRDB
import Model

/// The tables of local accounts, their sessions and the keys that sign tokens.
///
/// Operators' SQL statements cannot read columns whose names end in `_hash`, `_digest` or `_sealed`.
enum AccountSchema {
  static func migrate(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE account (
          id TEXT PRIMARY KEY,
          email TEXT NOT NULL UNIQUE,
          password_hash TEXT NOT NULL,
          created INTEGER NOT NULL
        );
        CREATE TABLE session (
          id TEXT PRIMARY KEY,
          account TEXT NOT NULL REFERENCES account ON DELETE CASCADE,
          family_digest TEXT NOT NULL UNIQUE,
          token_digest TEXT NOT NULL,
          previous_digest TEXT,
          rotated INTEGER NOT NULL,
          expires INTEGER NOT NULL
        );
        CREATE INDEX session_by_account ON session (account, rotated);
        CREATE INDEX session_by_expiry ON session (expires);
        CREATE TABLE signing_key (
          id TEXT PRIMARY KEY,
          key_sealed TEXT NOT NULL,
          created INTEGER NOT NULL
        );
        """)
  }
}

/// The rows of local accounts. Passwords are stored only as hashes, in a column that operators' SQL
/// statements cannot read.
struct AccountTable {
  private static let columns = "id, email, password_hash, created"
  private static let isDisabled =
    "EXISTS (SELECT 1 FROM disabled_account WHERE disabled_account.account = account.id)"

  let database: Database

  /// - Returns: false if the address already has an account.
  func insert(_ account: Account) throws -> Bool {
    let statement = try PreparedStatement(
      database,
      "INSERT INTO account (\(Self.columns)) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING")
    statement.bind(account.id, at: 1)
    statement.bind(account.email, at: 2)
    statement.bind(account.passwordHash, at: 3)
    statement.bind(account.created.milliseconds, at: 4)
    try statement.run()
    return database.changesCount > 0
  }

  /// Deletes an account with its sessions.
  ///
  /// - Returns: whether there was one.
  func remove(id: String) throws -> Bool {
    for sql in ["DELETE FROM session WHERE account = ?1", "DELETE FROM account WHERE id = ?1"] {
      let statement = try PreparedStatement(database, sql)
      statement.bind(id, at: 1)
      try statement.run()
    }
    return database.changesCount > 0
  }

  func find(email: String) throws -> Account? { try find("email", email) }

  func find(id: String) throws -> Account? { try find("id", id) }

  /// Returns accounts in the order of their ids.
  ///
  /// - Parameters:
  ///   - id: the only account; nil for all.
  ///   - after: the id before the page; empty for the first page.
  ///   - part: a text that the address contains, in normalised spelling; empty for any.
  ///   - now: sessions that have expired by then do not count.
  func page(
    id: String? = nil, after: String, containing part: String, at now: Timestamp, limit: Int
  ) throws -> [AccountSummary] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT account.id, account.email, account.created, count(session.id), max(session.rotated), \
      \(Self.isDisabled) \
      FROM (SELECT id, email, created FROM account WHERE id > ?1 AND (?2 IS NULL OR id = ?2) \
      AND instr(email, ?3) > 0 ORDER BY id LIMIT ?4) AS account \
      LEFT JOIN session ON session.account = account.id AND session.expires > ?5 \
      GROUP BY account.id ORDER BY account.id
      """)
    statement.bind(after, at: 1)
    statement.bind(id.map { Array($0.utf8) }, at: 2)
    statement.bind(part, at: 3)
    statement.bind(Int64(limit), at: 4)
    statement.bind(now.milliseconds, at: 5)
    defer { statement.reset() }
    var accounts: [AccountSummary] = []
    while try statement.step() {
      accounts.append(
        AccountSummary(
          id: statement.string(0), email: statement.string(1),
          created: Timestamp(milliseconds: statement.int64(2)),
          sessions: Int(statement.int64(3)),
          lastUsed: statement.isNull(4) ? nil : Timestamp(milliseconds: statement.int64(4)),
          isDisabled: statement.int64(5) != 0))
    }
    return accounts
  }

  /// - Returns: false if the stored hash is no longer `old`.
  func replaceHash(of id: String, from old: String, to new: String) throws -> Bool {
    let statement = try PreparedStatement(
      database, "UPDATE account SET password_hash = ?3 WHERE id = ?1 AND password_hash = ?2")
    statement.bind(id, at: 1)
    statement.bind(old, at: 2)
    statement.bind(new, at: 3)
    try statement.run()
    return database.changesCount > 0
  }

  /// Returns the distinct prefixes of the stored hashes before salt and key: algorithm and cost of
  /// hashing. Reads every account.
  func hashingWays() throws -> [String] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT DISTINCT substr(password_hash, 1, 8 + instr(substr(password_hash, 9), '$')) \
      FROM account
      """)
    defer { statement.reset() }
    var ways: [String] = []
    while try statement.step() { ways.append(statement.string(0)) }
    return ways
  }

  private func find(_ column: String, _ value: String) throws -> Account? {
    let statement = try PreparedStatement(
      database,
      "SELECT \(Self.columns), \(Self.isDisabled) FROM account WHERE \(column) = ?1")
    statement.bind(value, at: 1)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return Account(
      id: statement.string(0), email: statement.string(1), passwordHash: statement.string(2),
      created: Timestamp(milliseconds: statement.int64(3)), isDisabled: statement.int64(4) != 0)
  }
}

/// The rows of networks that accounts have signed in from. Accounts and networks are stored as digests.
struct AccountNetworkTable {
  let database: Database

  static func migrate(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE account_network (
          account_digest TEXT NOT NULL,
          network_digest TEXT NOT NULL,
          seen INTEGER NOT NULL,
          PRIMARY KEY (account_digest, network_digest)
        ) WITHOUT ROWID;
        """)
  }

  /// Returns when the account last signed in from the network; nil if it never did.
  func seen(account: String, network: String) throws -> Timestamp? {
    let statement = try PreparedStatement(
      database,
      "SELECT seen FROM account_network WHERE account_digest = ?1 AND network_digest = ?2")
    statement.bind(account, at: 1)
    statement.bind(network, at: 2)
    defer { statement.reset() }
    return try statement.step() ? Timestamp(milliseconds: statement.int64(0)) : nil
  }

  /// Records a sign-in from a network. Beyond `max` networks of the account, the least recently seen are
  /// removed.
  func note(account: String, network: String, at now: Timestamp, max: Int) throws {
    let insert = try PreparedStatement(
      database,
      """
      INSERT INTO account_network (account_digest, network_digest, seen) VALUES (?1, ?2, ?3) \
      ON CONFLICT (account_digest, network_digest) DO UPDATE SET seen = excluded.seen
      """)
    insert.bind(account, at: 1)
    insert.bind(network, at: 2)
    insert.bind(now.milliseconds, at: 3)
    try insert.run()
    let excess = try PreparedStatement(
      database,
      """
      DELETE FROM account_network WHERE account_digest = ?1 AND network_digest IN \
      (SELECT network_digest FROM account_network WHERE account_digest = ?1 \
      ORDER BY seen DESC, network_digest LIMIT -1 OFFSET ?2)
      """)
    excess.bind(account, at: 1)
    excess.bind(Int64(max), at: 2)
    try excess.run()
  }
}

/// The rows of the keys that sign tokens, each sealed.
struct SigningKeyTable {
  let database: Database

  /// Returns all keys, oldest first.
  func all() throws -> [SealedKey] {
    let statement = try PreparedStatement(
      database, "SELECT id, key_sealed, created FROM signing_key ORDER BY created, rowid")
    defer { statement.reset() }
    var keys: [SealedKey] = []
    while try statement.step() {
      guard let sealed = Base64URL.decode(statement.string(1)) else { continue }
      keys.append(
        SealedKey(
          id: statement.string(0), sealed: sealed,
          created: Timestamp(milliseconds: statement.int64(2))))
    }
    return keys
  }

  func remove(_ id: String) throws {
    let statement = try PreparedStatement(database, "DELETE FROM signing_key WHERE id = ?1")
    statement.bind(id, at: 1)
    try statement.run()
  }

  /// - Returns: the number of keys removed.
  func removeAll() throws -> Int {
    try PreparedStatement(database, "DELETE FROM signing_key").run()
    return database.changesCount
  }

  func insert(_ key: SealedKey) throws {
    let statement = try PreparedStatement(
      database, "INSERT INTO signing_key (id, key_sealed, created) VALUES (?1, ?2, ?3)")
    statement.bind(key.id, at: 1)
    statement.bind(Base64URL.encode(key.sealed), at: 2)
    statement.bind(key.created.milliseconds, at: 3)
    try statement.run()
  }
}
