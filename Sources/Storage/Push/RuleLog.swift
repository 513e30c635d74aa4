import GRDB
import Model

/// Reads the change log for rules: each scope by itself, since a rule is nobody's own view.
///
/// A device's rows are passed over unless clients write their type: over upstream's types they are
/// what a queue expects, and may never come true.
struct RuleLog {
  /// Rows read for one page.
  static let rowsMax = 256

  let database: Database
  let catalogue: TypeCatalogue

  /// What fits of several scopes is one page, in the order of commits: what a rule says last of an
  /// entity that changed in two of them does not depend on when it looks.
  func page(_ query: RuleQuery) throws -> RuleChanges {
    let types = query.types.compactMap { catalogue[$0]?.id }
    let localTypes = try localTypes()
    var changes: [RuleChanges.Change] = []
    var read: [RulePlace] = []
    var room = Self.rowsMax
    for scope in try scopes(query) {
      let sought = Set(scope.isDevice ? types.filter(localTypes.contains) : types)
      guard !sought.isEmpty else { continue }
      let start = query.place.flatMap { $0.scope == scope.id ? $0 : nil }
      let rows = try ChangeScan(database, scopes: [scope.id]).rows(
        after: start.map { ($0.revision, $0.type, $0.key) } ?? (query.since.value, .max, ""),
        limit: room)
      let wanted = rows.filter { sought.contains($0.type) && $0.kind == .present }
      changes += try self.changes(wanted, in: scope.id, since: query.since.value)
      read += wanted.map { RulePlace($0, in: scope.id) }
      room -= rows.count
      if room == 0, let last = rows.last {
        return RuleChanges(
          changes: Self.sorted(changes), read: read, next: RulePlace(last, in: scope.id))
      }
    }
    return RuleChanges(changes: Self.sorted(changes), read: read, next: nil)
  }

  // MARK: Scopes

  private func scopes(_ query: RuleQuery) throws -> [(id: Int64, isDevice: Bool)] {
    let from = query.place?.scope ?? .min
    guard let named = query.scopes else { return try allScopes(from: from) }
    return try named.compactMap { scope in
      try ScopeTable.find(scope, database).map { ($0, scope.kind == .device) }
    }.filter { $0.0 >= from }.sorted { $0.0 < $1.0 }
  }

  private func allScopes(from first: Int64) throws -> [(id: Int64, isDevice: Bool)] {
    let statement = try PreparedStatement(
      database, "SELECT id, kind FROM scope WHERE id >= ?1 ORDER BY id")
    statement.bind(first, at: 1)
    defer { statement.reset() }
    var scopes: [(Int64, Bool)] = []
    while try statement.step() {
      scopes.append((statement.int64(0), statement.int64(1) == Int64(Scope.Kind.device.rawValue)))
    }
    return scopes
  }

  private func localTypes() throws -> Set<Int64> {
    let statement = try PreparedStatement(database, "SELECT type FROM local_type")
    defer { statement.reset() }
    var types: Set<Int64> = []
    while try statement.step() { types.insert(statement.int64(0)) }
    return types
  }

  // MARK: Changes

  private func changes(
    _ rows: [ChangeRow], in scope: Int64, since: Int64
  ) throws -> [RuleChanges.Change] {
    let loader = ViewLoader(database, catalogue, scopes: [scope])
    let table = RuleTable(database: database)
    var changes: [RuleChanges.Change] = []
    for (type, rows) in Dictionary(grouping: rows, by: \.type) {
      guard let entities = catalogue[id: type] else { continue }
      let sights = try loader.sights(of: rows, in: entities)
      for row in rows {
        guard let fields = sights[ExactText(row.key)]?.contents.first else { continue }
        let told = try table.revisionRead(of: RulePlace(row, in: scope)) ?? since
        for (state, isNew) in try states(of: row, now: fields, in: scope, since: max(since, told)) {
          changes.append(
            RuleChanges.Change(
              entity: EntityKey(type: entities.type, key: row.key), scope: scope,
              revision: Revision(state.revision), isNew: isNew, fields: state.fields))
        }
      }
    }
    return changes
  }

  /// One for each commit behind which it was another, the last one being what it is now.
  private func states(
    of row: ChangeRow, now fields: [UInt8], in scope: Int64, since: Int64
  ) throws -> [(RuleStates.State, isNew: Bool)] {
    guard row.revision > since else { return [] }
    // What came into being anew is not told of as it was before it went.
    let isNew = row.created > since
    var states = try RuleStates(database: database).ended(
      of: row, in: scope, since: isNew ? row.created - 1 : since)
    states.append(RuleStates.State(revision: row.revision, fields: fields))
    guard isNew else { return states.map { ($0, false) } }
    // A copy of what another scope had before is neither new nor a change.
    if try oldest(row) < row.created { return states.dropFirst().map { ($0, false) } }
    return states.enumerated().map { place, state in (state, place == 0) }
  }

  private static func sorted(_ changes: [RuleChanges.Change]) -> [RuleChanges.Change] {
    changes.sorted {
      ($0.revision, $0.entity.type, $0.entity.key, $0.scope)
        < ($1.revision, $1.entity.type, $1.entity.key, $1.scope)
    }
  }

  /// When the entity came into being in any scope.
  private func oldest(_ row: ChangeRow) throws -> Int64 {
    let statement = try PreparedStatement(
      database,
      """
      SELECT min(created) FROM (\
      SELECT created FROM change WHERE scope = \(ScopeTable.publicID) AND type = ?1 AND key = ?2 \
      UNION ALL SELECT change.created FROM private_row CROSS JOIN change \
      ON change.scope = private_row.scope AND change.type = ?1 AND change.key = ?2 \
      WHERE private_row.type = ?1 AND private_row.key = ?2)
      """)
    statement.bind(row.type, at: 1)
    statement.bind(row.key, at: 2)
    defer { statement.reset() }
    guard try statement.step() else { return row.created }
    return statement.optionalInt64(0) ?? row.created
  }
}
