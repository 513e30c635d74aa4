import GRDB
import Model

/// The rows of disabled accounts. A row outlives its account, since the account's access tokens and devices
/// do: deleting a disabled account must not admit them.
struct DisabledAccountTable {
  let database: Database

  static func migrate(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE disabled_account (
          account TEXT PRIMARY KEY,
          since INTEGER NOT NULL
        ) WITHOUT ROWID;
        """)
  }

  func all() throws -> Set<String> {
    let statement = try PreparedStatement(database, "SELECT account FROM disabled_account")
    defer { statement.reset() }
    var accounts: Set<String> = []
    while try statement.step() { accounts.insert(statement.string(0)) }
    return accounts
  }

  func contains(_ account: String) throws -> Bool {
    let statement = try PreparedStatement(
      database, "SELECT 1 FROM disabled_account WHERE account = ?1")
    statement.bind(account, at: 1)
    defer { statement.reset() }
    return try statement.step()
  }

  /// Whether the device belongs to a disabled account.
  func holds(device: String) throws -> Bool {
    let statement = try PreparedStatement(
      database,
      """
      SELECT 1 FROM device JOIN disabled_account ON disabled_account.account = device.owner \
      WHERE device.id = ?1
      """)
    statement.bind(device, at: 1)
    defer { statement.reset() }
    return try statement.step()
  }

  /// Disables an account; one that is disabled keeps its time.
  func insert(_ account: String, at now: Timestamp) throws {
    let statement = try PreparedStatement(
      database,
      "INSERT INTO disabled_account (account, since) VALUES (?1, ?2) ON CONFLICT DO NOTHING")
    statement.bind(account, at: 1)
    statement.bind(now.milliseconds, at: 2)
    try statement.run()
  }

  func remove(_ account: String) throws {
    let statement = try PreparedStatement(
      database, "DELETE FROM disabled_account WHERE account = ?1")
    statement.bind(account, at: 1)
    try statement.run()
  }
}
