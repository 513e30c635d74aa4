import GRDB
import Model

/// The networks that accounts have signed in from, by digests alone.
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

  func seen(account: String, network: String) throws -> Timestamp? {
    let statement = try PreparedStatement(
      database,
      "SELECT seen FROM account_network WHERE account_digest = ?1 AND network_digest = ?2")
    statement.bind(account, at: 1)
    statement.bind(network, at: 2)
    defer { statement.reset() }
    return try statement.step() ? Timestamp(milliseconds: statement.int64(0)) : nil
  }

  /// Adds a network, for which the account's longest unseen ones go past `max`.
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
    let room = try PreparedStatement(
      database,
      """
      DELETE FROM account_network WHERE account_digest = ?1 AND network_digest IN \
      (SELECT network_digest FROM account_network WHERE account_digest = ?1 \
      ORDER BY seen DESC, network_digest LIMIT -1 OFFSET ?2)
      """)
    room.bind(account, at: 1)
    room.bind(Int64(max), at: 2)
    try room.run()
  }
}
