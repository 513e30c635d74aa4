import GRDB
import Model

/// The numbers that stand for scopes in every other table.
enum ScopeTable {
  static let publicID: Int64 = 0
  /// Stands for every scope where a table allows it.
  static let everyID: Int64 = -1
  /// Stands for every scope that several callers share, where a table allows it.
  static let sharedID: Int64 = -2

  /// The raw values of the kinds that several callers share, as an SQL list.
  static let sharedKinds = Scope.Kind.allCases.filter(\.isShared).map { "\($0.rawValue)" }
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

  /// A scope by its number; nil for a number that stands for none.
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
