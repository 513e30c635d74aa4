import GRDB
import Model

/// The numbers that identify scopes in every other table.
enum ScopeTable {
  static let publicID: Int64 = 0
  /// Identifies every scope, in tables that allow it.
  static let everyID: Int64 = -1
  /// Identifies every scope that several callers share, in tables that allow it.
  static let sharedID: Int64 = -2
  /// Identifies no scope: no row has it.
  static let noneID: Int64 = -3

  /// The raw values of the kinds that several callers share, as an SQL list.
  static let sharedKinds = Scope.Kind.allCases.filter(\.isShared).map { "\($0.rawValue)" }
    .joined(separator: ", ")

  /// The raw values of the kinds that hold copies of upstream's data, as an SQL list.
  static let upstreamKinds = [Scope.Kind.public, .user, .role, .claim].map { "\($0.rawValue)" }
    .joined(separator: ", ")

  static func find(_ scope: Scope, _ db: Database) throws -> Int64? {
    if scope == .public { return publicID }
    let statement = try PreparedStatement(
      db, "SELECT id FROM scope WHERE kind = ?1 AND subject = ?2 AND division = ?3")
    bind(scope, to: statement)
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : nil
  }

  static func insert(_ scope: Scope, _ db: Database) throws -> Int64 {
    let statement = try PreparedStatement(
      db, "INSERT INTO scope (kind, subject, division) VALUES (?1, ?2, ?3)")
    bind(scope, to: statement)
    try statement.run()
    return db.lastInsertedRowID
  }

  /// Returns a scope by its number; nil for an unknown number.
  static func scope(_ id: Int64, _ db: Database) throws -> Scope? {
    if id == publicID { return .public }
    let statement = try PreparedStatement(
      db, "SELECT kind, subject, division FROM scope WHERE id = ?1")
    statement.bind(id, at: 1)
    defer { statement.reset() }
    guard try statement.step(), let kind = Scope.Kind(rawValue: Int(statement.int64(0))) else {
      return nil
    }
    return Scope(kind: kind, subject: statement.string(1), partition: statement.string(2))
  }

  private static func bind(_ scope: Scope, to statement: PreparedStatement) {
    statement.bind(Int64(scope.kind.rawValue), at: 1)
    statement.bind(scope.subject, at: 2)
    statement.bind(scope.partition, at: 3)
  }
}

/// The scopes besides the public one that have a row of an entity: rows are found by scope and key,
/// and a key alone would have to be looked up in every existing scope.
///
/// A table of its own, not an index over private rows, since even an index that skips a row costs
/// that row's insertion a quarter of a microsecond. The rows it names can be missing.
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

  /// Removes entries without a row, after many rows of a type were removed at once.
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
