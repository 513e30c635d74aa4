import GRDB
import Model

/// The rows of keys that sign tokens, each sealed.
struct SigningKeyTable {
  let database: Database

  /// The oldest first.
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

  /// - Returns: how many there were.
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
