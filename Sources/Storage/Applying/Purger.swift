import GRDB
import Model

/// Removes things as if they had never been stored, apart from what the change log says.
///
/// Rows go rather than become tombstones: a user's tombstone would go on hiding the public copy
/// that the next answer brings.
struct Purger {
  private let context: WriteContext
  private let invalidator: Invalidator

  init(_ context: WriteContext) {
    self.context = context
    invalidator = Invalidator(context)
  }

  /// - Parameter scope: a number; nil means every scope.
  func purge(_ target: InvalidationTarget, scope: Int64?) throws {
    context.note(target)
    context.memory.lateMarks.add(
      target, scope: scope, call: context.call, effect: .purge, horizon: context.horizon)
    switch target {
    case .entity(let key): try purgeEntity(key, scope: scope)
    case .type(let name): try purgeType(name, scope: scope)
    case .operation(let name):
      try purgeResults("operation = ?1", name, scope: scope)
    case .tag(let name):
      try purgeResults(
        """
        id IN (SELECT result FROM dependency \
        WHERE kind = \(DependencyKind.tag.rawValue) AND name = ?1)
        """, name, scope: scope)
    }
  }

  private func purgeEntity(_ key: EntityKey, scope: Int64?) throws {
    let table = try context.table(of: key.type)
    for id in try scope.map({ [$0] }) ?? invalidator.allScopes() {
      let statement = try PreparedStatement(context.database, table.delete)
      statement.bind(id, at: 1)
      statement.bind(key.key, at: 2)
      let wasVisible = try statement.step() && statement.int64(0) != 0
      statement.reset()
      guard wasVisible, let scope = try ScopeTable.scope(id, context.database) else { continue }
      try context.logDeletion(of: key, in: scope, id: id, type: table.id)
    }
    try invalidator.mark(.entity, DependencyKind.name(of: key), scopes: scope.map { [$0] })
  }

  /// One statement for the log and one for the rows, whatever their number; the report names the
  /// type alone.
  private func purgeType(_ type: String, scope: Int64?) throws {
    let table = try context.table(of: type)
    let name = EntityTable.quoted(table.name)
    let condition = scope.map { "scope = \($0)" } ?? "TRUE"
    let isFilled =
      try Bool.fetchOne(
        context.database,
        sql: "SELECT EXISTS (SELECT 1 FROM \(name) WHERE \(condition) AND fields IS NOT NULL)")
      ?? false
    if isFilled {
      let revision = context.takeRevision()
      try context.database.execute(
        sql: """
          INSERT INTO change (scope, type, key, created, revision, kind) \
          SELECT scope, ?1, key, ?2, ?2, 1 FROM \(name) \
          WHERE \(condition) AND fields IS NOT NULL \
          ON CONFLICT (scope, type, key) DO UPDATE SET revision = excluded.revision, kind = 1
          """, arguments: [table.id, revision])
    }
    try context.database.execute(sql: "DELETE FROM \(name) WHERE \(condition)")
    try invalidator.mark(.type, type, scopes: scope.map { [$0] })
  }

  private func purgeResults(_ condition: String, _ name: String, scope: Int64?) throws {
    let inScope = scope.map { " AND scope = \($0)" } ?? ""
    try context.database.execute(
      sql: "DELETE FROM result WHERE \(condition)\(inScope)", arguments: [name])
  }
}
