import GRDB
import LosslessJSON
import Model

/// A row of `result` as readers see it.
struct ResultRow {
  let id: Int64
  let scope: Int64
  let call: Int64
  let received: Timestamp
  let errors: [UInt8]?
  let fields: [UInt8]
  let dependencies: [UInt8]
  /// The last invalidation of its operation, of a type, tag or list it depends on; 0 for none.
  let due: Int64

  static func find(
    _ key: ResultKey, _ db: Database, _ directory: ScopeDirectory
  ) throws -> ResultRow? {
    guard let scope = try directory.id(of: key.scope, db) else { return nil }
    let statement = try PreparedStatement(
      db,
      """
      SELECT id, call, received, errors, fields, dependencies, max( \
      (SELECT coalesce(max(call), 0) FROM invalidation \
      WHERE kind = \(DependencyKind.operation.rawValue) AND name = ?2 AND scope IN (?1, ?4, ?5)), \
      (SELECT coalesce(max(invalidation.call), 0) FROM dependency CROSS JOIN invalidation \
      ON invalidation.kind = dependency.kind AND invalidation.name = dependency.name \
      AND invalidation.scope IN (?1, ?4, ?5) WHERE dependency.result = result.id)) \
      FROM result WHERE scope = ?1 AND operation = ?2 AND variables = ?3
      """)
    statement.bind(scope, at: 1)
    statement.bind(key.operation, at: 2)
    statement.bind(key.variables, at: 3)
    statement.bind(ScopeTable.everyID, at: 4)
    statement.bind(key.scope.kind.isShared ? ScopeTable.sharedID : scope, at: 5)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return ResultRow(
      id: statement.int64(0), scope: scope, call: statement.int64(1),
      received: Timestamp(milliseconds: statement.int64(2)), errors: statement.bytes(3),
      fields: statement.bytes(4) ?? [], dependencies: statement.bytes(5) ?? [],
      due: statement.int64(6))
  }
}
