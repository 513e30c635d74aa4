import GRDB
import Model

/// Marks data as due for a refetch. Types, operations and tags take one row whatever they cover:
/// whether a result is due is determined when it is read.
struct Invalidator {
  private let context: WriteContext
  private let call: Int64

  /// - Parameter call: the call to mark with, if not the command's own.
  init(_ context: WriteContext, call: Int64? = nil) {
    self.context = context
    self.call = call ?? context.call
  }

  /// - Parameter scopes: numbers of scopes; nil means every scope.
  func invalidate(_ target: InvalidationTarget, scopes: [Int64]?) throws {
    context.note(target)
    switch target {
    case .entity(let key): try markEntity(key, scopes: scopes)
    case .type(let name): try mark(.type, name, scopes: scopes)
    case .operation(let name): try mark(.operation, name, scopes: scopes)
    case .tag(let name): try mark(.tag, name, scopes: scopes)
    }
  }

  /// Marks the copies in a scope, and all shared ones: the public copies, and those of roles and of
  /// claims.
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

  /// Returns the numbers of the scopes, besides the public one, that several callers share and that
  /// can hold a row of one of the keys.
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

/// Purges and invalidations of rows that did not exist, kept for responses that began before them
/// and are still on their way.
///
/// Kept in memory only: a call does not outlive its process.
struct PendingInvalidations {
  enum Effect {
    case purge
    case due
  }

  private struct Place: Hashable {
    let target: InvalidationTarget
    /// Nil means every scope.
    let scope: Int64?
    let effect: Effect
  }

  /// The last call of each; earlier ones are never needed.
  private var marks: [Place: Int64] = [:]

  var isEmpty: Bool { marks.isEmpty }

  mutating func add(
    _ target: InvalidationTarget, scope: Int64?, call: Int64, effect: Effect, horizon: Int64
  ) {
    guard horizon < call else { return }
    let place = Place(target: target, scope: scope, effect: effect)
    marks[place] = max(marks[place] ?? 0, call)
  }

  /// Forgets marks that no response can be older than.
  mutating func prune(horizon: Int64) {
    if !marks.isEmpty { marks = marks.filter { $0.value > horizon } }
  }

  func purges(_ target: InvalidationTarget, scope: Int64, after call: Int64) -> Bool {
    last(.purge, of: target, scope: scope) > call
  }

  /// Returns the call of the last invalidation of an entity; 0 for none.
  func due(_ key: EntityKey, scope: Int64) -> Int64 {
    last(.due, of: .entity(key), scope: scope)
  }

  private func last(_ effect: Effect, of target: InvalidationTarget, scope: Int64) -> Int64 {
    guard !marks.isEmpty else { return 0 }
    return max(
      marks[Place(target: target, scope: scope, effect: effect)] ?? 0,
      marks[Place(target: target, scope: nil, effect: effect)] ?? 0)
  }
}
