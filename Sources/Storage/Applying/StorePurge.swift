import GRDB
import Model

/// Removes data as if it had never been stored, apart from its entries in the change log.
///
/// Rows are deleted, not turned into tombstones: a user's tombstone would go on hiding the public
/// copy that the next response brings. Values that a later call has written stay.
///
/// Local types and fields are skipped for every caller: they cannot be fetched again. Their rows are removed
/// by their owners' writes, and with their owners.
struct StorePurge {
  private let context: WriteContext
  private let invalidator: Invalidator

  init(_ context: WriteContext) {
    self.context = context
    invalidator = Invalidator(context)
  }

  /// - Parameter scope: the number of a scope; nil means every scope.
  func purge(_ target: InvalidationTarget, scope: Int64?) throws {
    guard try !isLocal(target) else { return }
    context.note(target)
    context.memory.note(invalidation: context.call)
    context.memory.pendingInvalidations.add(
      target, scope: scope, call: context.call, effect: .purge, horizon: context.horizon)
    switch target {
    case .entity(let key):
      let table = try context.table(of: key.type)
      for id in try scope.map({ [$0] }) ?? invalidator.allScopes() {
        try purge(key, scope: id, from: table)
      }
      try invalidator.mark(.entity, DependencyKind.name(of: key), scopes: scope.map { [$0] })
    case .type(let name): try purgeType(name, scope: scope)
    case .operation(let name): try purgeResults("operation = ?1", name, scope: scope)
    case .tag(let name):
      try purgeResults(
        """
        id IN (SELECT result FROM dependency \
        WHERE kind = \(DependencyKind.tag.rawValue) AND name = ?1)
        """, name, scope: scope)
    }
  }

  private func isLocal(_ target: InvalidationTarget) throws -> Bool {
    let type: String
    switch target {
    case .entity(let key): type = key.type
    case .type(let name): type = name
    case .operation, .tag: return false
    }
    guard let table = context.catalogue[type] else { return false }
    return try LocalRecord.types(context.database).contains(table.id)
  }

  // MARK: Entities

  private func purge(_ key: EntityKey, scope id: Int64, from table: EntityTable) throws {
    guard let scope = try ScopeTable.scope(id, context.database), !scope.isOwnData else { return }
    guard let row = try StoredRow.find(key.key, scope: id, table, context.database) else {
      return try context.logDeletionOfEvicted(key, in: scope, id: id, type: table.id)
    }
    guard context.call > row.barrier else { return }
    var state = try row.state()
    state.delete(call: context.call)
    state.settle(horizon: context.horizon)
    guard !state.isEmpty else {
      let statement = try PreparedStatement(context.database, table.delete)
      statement.bind(row.rowid, at: 1)
      try statement.run()
      try PrivateRows.remove(key.key, scope: id, type: table.id, context.database)
      // A private tombstone can have hidden rows that show now, and an entity that was shown for its local
      // fields vanishes: the log must record the removal.
      let isSeen =
        try row.fields != nil || id != ScopeTable.publicID
        || LocalFieldRows.exist(of: key.key, type: table.id, context.database)
      guard isSeen else { return }
      return try context.logDeletion(
        of: key, in: scope, id: id, type: table.id, lifts: row.fields == nil)
    }
    let fields = state.encodedFields
    let isChanged = fields != row.fields
    let stamps = state.encodedStamps(writing: row.call, horizon: context.horizon)
    try row.update(
      in: table, call: stamps.call, received: row.received, isChanged: isChanged,
      barrier: context.call, stamps: stamps.stamps, fields: fields, context)
    if isChanged { try context.logUpdate(of: key, in: scope, id: id, type: table.id) }
  }

  /// Purges a type with one statement for the log and one for the rows, whatever their number; the
  /// report names only the type. Rows that a later call has written are few and are purged one by
  /// one.
  private func purgeType(_ type: String, scope: Int64?) throws {
    let table = try context.table(of: type)
    let name = EntityTable.quoted(table.name)
    let inScope =
      scope.map { "scope = \($0)" }
      ?? "scope NOT IN (SELECT id FROM scope WHERE division = '\(Scope.ownPartition)')"
    let disputed = try Row.fetchAll(
      context.database,
      sql: """
        SELECT scope, key FROM \(name) WHERE \(inScope) AND (call > ?1 OR stamps IS NOT NULL)
        """, arguments: [context.call])
    for row in disputed {
      try purge(EntityKey(type: type, key: row["key"]), scope: row["scope"], from: table)
    }
    let condition = "\(inScope) AND call <= \(context.call) AND stamps IS NULL"
    let isReported = """
      (fields IS NOT NULL OR scope <> \(ScopeTable.publicID) \
      OR key IN (SELECT key FROM local_field_row WHERE type = \(table.id)))
      """
    let isFilled = try Bool.fetchOne(
      context.database,
      sql: "SELECT EXISTS (SELECT 1 FROM \(name) WHERE \(condition) AND \(isReported))")
    if isFilled == true {
      try context.database.execute(
        sql: """
          INSERT INTO change (scope, type, key, created, revision, kind, lifted) \
          SELECT scope, ?1, key, ?2, ?2, 1, iif(fields IS NULL, ?2, 0) FROM \(name) \
          WHERE \(condition) AND \(isReported) \
          ON CONFLICT (scope, type, key) DO UPDATE SET revision = excluded.revision, kind = 1, \
          lifted = max(lifted, excluded.lifted)
          """, arguments: [table.id, context.takeRevision()])
    }
    try context.database.execute(sql: "DELETE FROM \(name) WHERE \(condition)")
    try PrivateRows.removeDangling(of: table, context.database)
    try purgeEvicted(table, inScope)
    if let revision = context.revision {
      try TombstoneLog.addAll(ofType: table.id, at: revision, context.database)
    }
    try invalidator.mark(.type, type, scopes: scope.map { [$0] })
  }

  private func purgeEvicted(_ table: EntityTable, _ inScope: String) throws {
    let condition = """
      kind = \(ChangeKind.evicted.rawValue) AND \(inScope) AND (scope, type, key) IN \
      (SELECT scope, type, key FROM gone WHERE type = \(table.id))
      """
    let isFilled = try Bool.fetchOne(
      context.database, sql: "SELECT EXISTS (SELECT 1 FROM change WHERE \(condition))")
    guard isFilled == true else { return }
    try context.database.execute(
      sql: "UPDATE change SET revision = ?, kind = 1 WHERE \(condition)",
      arguments: [context.takeRevision()])
  }

  // MARK: Results

  private func purgeResults(_ condition: String, _ name: String, scope: Int64?) throws {
    let inScope = scope.map { " AND scope = \($0)" } ?? ""
    let disputed = try Row.fetchAll(
      context.database,
      sql: "SELECT id, call, stamps, fields FROM result WHERE \(condition)\(inScope) AND call > ?2",
      arguments: [name, context.call])
    for row in disputed {
      var state = try RowState(
        fields: Array((row["fields"] as String).utf8),
        stamps: (row["stamps"] as String?).map { Array($0.utf8) }, call: row["call"], barrier: 0)
      state.delete(call: context.call)
      let stamps = state.encodedStamps(writing: row["call"], horizon: context.horizon)
      try context.database.execute(
        sql: "UPDATE result SET fields = ?, stamps = ? WHERE id = ?",
        arguments: [
          String(decoding: state.encodedFields, as: UTF8.self),
          stamps.stamps.map { String(decoding: $0, as: UTF8.self) }, row["id"] as Int64,
        ])
    }
    try context.database.execute(
      sql: "DELETE FROM result WHERE \(condition)\(inScope) AND call <= ?2",
      arguments: [name, context.call])
  }
}
