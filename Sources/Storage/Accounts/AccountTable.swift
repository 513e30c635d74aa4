import GRDB
import Model

/// The rows of accounts that are kept here. Passwords are stored as hashes only, in a column whose
/// name keeps it from operators' statements.
struct AccountTable {
  private static let columns = "id, email, password_hash, created"

  let database: Database

  /// - Returns: false where the address has an account.
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

  func find(email: String) throws -> Account? { try find("email", email) }

  func find(id: String) throws -> Account? { try find("id", id) }

  /// - Returns: false where the hash is not this one any more.
  func replaceHash(of id: String, from old: String, to new: String) throws -> Bool {
    let statement = try PreparedStatement(
      database, "UPDATE account SET password_hash = ?3 WHERE id = ?1 AND password_hash = ?2")
    statement.bind(id, at: 1)
    statement.bind(old, at: 2)
    statement.bind(new, at: 3)
    try statement.run()
    return database.changesCount > 0
  }

  /// What stands before salt and key in the stored hashes, each once: the way and the cost of
  /// hashing. Looks at every account.
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
      database, "SELECT \(Self.columns) FROM account WHERE \(column) = ?1")
    statement.bind(value, at: 1)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return Account(
      id: statement.string(0), email: statement.string(1), passwordHash: statement.string(2),
      created: Timestamp(milliseconds: statement.int64(3)))
  }
}
