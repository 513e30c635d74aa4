import GRDB
import Model

/// Marks things as due for refetch. Types, operations and tags take one row whatever they cover:
/// whether a result is due is found when it is read.
struct Invalidator {
  private let context: WriteContext
  private let call: Int64

  /// - Parameter call: where another than the command's own is meant.
  init(_ context: WriteContext, call: Int64? = nil) {
    self.context = context
    self.call = call ?? context.call
  }

  /// - Parameter scopes: numbers; nil means every scope.
  func invalidate(_ target: InvalidationTarget, scopes: [Int64]?) throws {
    context.note(target)
    switch target {
    case .entity(let key): try markEntity(key, scopes: scopes)
    case .type(let name): try mark(.type, name, scopes: scopes)
    case .operation(let name): try mark(.operation, name, scopes: scopes)
    case .tag(let name): try mark(.tag, name, scopes: scopes)
    }
  }

  func mark(_ kind: DependencyKind, _ name: String, scopes: [Int64]?) throws {
    let statement = try PreparedStatement(
      context.database,
      """
      INSERT INTO invalidation (kind, name, scope, call) VALUES (?1, ?2, ?3, ?4) \
      ON CONFLICT (kind, name, scope) DO UPDATE SET call = max(call, excluded.call)
      """)
    for scope in scopes ?? [ScopeTable.everyID] {
      statement.bind(kind.rawValue, at: 1)
      statement.bind(name, at: 2)
      statement.bind(scope, at: 3)
      statement.bind(call, at: 4)
      try statement.run()
    }
  }

  private func markEntity(_ key: EntityKey, scopes: [Int64]?) throws {
    let table = try context.table(of: key.type)
    for scope in try scopes ?? allScopes() {
      let statement = try PreparedStatement(context.database, table.markDue)
      statement.bind(scope, at: 1)
      statement.bind(key.key, at: 2)
      statement.bind(call, at: 3)
      try statement.run()
      if scopes != nil { remember(key, scope: scope) }
    }
    if scopes == nil { remember(key, scope: nil) }
  }

  private func remember(_ key: EntityKey, scope: Int64?) {
    context.memory.lateMarks.add(
      .entity(key), scope: scope, call: call, effect: .due, horizon: context.horizon)
  }

  func allScopes() throws -> [Int64] {
    try Int64.fetchAll(context.database, sql: "SELECT id FROM scope")
  }
}
