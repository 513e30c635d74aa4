import GRDB

/// Which scopes besides the public one know an entity: rows are found by scope and key, and a key
/// alone would have to be looked for in every scope there is.
///
/// A table of its own and not an index over private rows, since even an index that leaves a row out
/// costs that row's insertion a quarter of a microsecond. What it names may be gone.
enum PrivateRows {
  static func add(_ key: String, scope: Int64, type: Int64, _ db: Database) throws {
    let statement = try PreparedStatement(
      db, "INSERT OR IGNORE INTO private_row (type, key, scope) VALUES (?1, ?2, ?3)")
    bind(key, scope, type, to: statement)
    try statement.run()
  }

  static func remove(_ key: String, scope: Int64, type: Int64, _ db: Database) throws {
    guard scope != ScopeTable.publicID else { return }
    let statement = try PreparedStatement(
      db, "DELETE FROM private_row WHERE type = ?1 AND key = ?2 AND scope = ?3")
    bind(key, scope, type, to: statement)
    try statement.run()
  }

  /// After many rows of a type were removed at once.
  static func removeDangling(of table: EntityTable, _ db: Database) throws {
    try db.execute(
      sql: """
        DELETE FROM private_row WHERE type = ? AND NOT EXISTS (\
        SELECT 1 FROM \(EntityTable.quoted(table.name)) AS stored \
        WHERE stored.scope = private_row.scope AND stored.key = private_row.key)
        """, arguments: [table.id])
  }

  private static func bind(
    _ key: String, _ scope: Int64, _ type: Int64, to statement: PreparedStatement
  ) {
    statement.bind(type, at: 1)
    statement.bind(key, at: 2)
    statement.bind(scope, at: 3)
  }
}
