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

  /// Marks the copies of a scope, and all that several callers share: the public ones, and those of
  /// roles and of claims.
  func invalidate(_ target: InvalidationTarget, in scope: Int64) throws {
    context.note(target)
    let scopes = Array(Set([scope, ScopeTable.publicID]))
    switch target {
    case .entity(let key):
      let shared = try sharedScopes(
        holding: CollectionOfOne(key.key), type: try context.table(of: key.type).id)
      try markEntity(key, scopes: Array(Set(scopes + shared)))
    case .type(let name): try mark(.type, name, scopes: scopes + [ScopeTable.sharedID])
    case .operation(let name): try mark(.operation, name, scopes: scopes + [ScopeTable.sharedID])
    case .tag(let name): try mark(.tag, name, scopes: scopes + [ScopeTable.sharedID])
    }
  }

  /// Numbers of the scopes beside the public one that several callers share and that may hold a row
  /// of one of the keys.
  func sharedScopes(holding keys: some Sequence<String>, type: Int64) throws -> [Int64] {
    let statement = try PreparedStatement(
      context.database,
      """
      SELECT DISTINCT scope.id FROM private_row CROSS JOIN scope ON scope.id = private_row.scope \
      WHERE private_row.type = ?1 AND private_row.key IN (SELECT value FROM json_each(?2)) \
      AND scope.kind IN (\(ScopeTable.sharedKinds))
      """)
    statement.bind(type, at: 1)
    try statement.bind(KeyList.json(keys), at: 2)
    defer { statement.reset() }
    var scopes: [Int64] = []
    while try statement.step() { scopes.append(statement.int64(0)) }
    return scopes
  }

  func mark(_ kind: DependencyKind, _ name: String, scopes: [Int64]?) throws {
    context.memory.note(invalidation: call)
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
    context.memory.note(invalidation: call)
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
    context.memory.pendingInvalidations.add(
      .entity(key), scope: scope, call: call, effect: .due, horizon: context.horizon)
  }

  func allScopes() throws -> [Int64] {
    try Int64.fetchAll(context.database, sql: "SELECT id FROM scope")
  }
}
