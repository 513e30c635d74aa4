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

  func page(_ query: RuleQuery) throws -> RuleChanges {
    let types = query.types.compactMap { catalogue[$0]?.id }
    let localTypes = try localTypes()
    for scope in try scopes(query) {
      let sought = scope.isDevice ? types.filter(localTypes.contains) : types
      guard !sought.isEmpty else { continue }
      let start = query.place.flatMap { $0.scope == scope.id ? $0 : nil }
      let rows = try ChangeScan(database, scopes: [scope.id]).rows(
        after: start.map { ($0.revision, $0.type, $0.key) } ?? (query.since.value, .max, ""),
        limit: Self.rowsMax)
      guard let last = rows.last else { continue }
      let changes = try changes(rows, of: Set(sought), in: scope.id, since: query.since.value)
      // Short pages of scopes that end here are worth a command: few scopes change at a time.
      return RuleChanges(
        changes: changes,
        next: RulePlace(
          scope: scope.id, revision: last.revision, type: last.type, key: last.key))
    }
    return RuleChanges(changes: [], next: nil)
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
    _ rows: [ChangeRow], of types: Set<Int64>, in scope: Int64, since: Int64
  ) throws -> [RuleChanges.Change] {
    let loader = SightLoader(database, catalogue, scopes: [scope])
    var changes: [RuleChanges.Change] = []
    let wanted = rows.filter { types.contains($0.type) && $0.kind == .present }
    for (type, rows) in Dictionary(grouping: wanted, by: \.type) {
      guard let table = catalogue[id: type] else { continue }
      let sights = try loader.sights(of: rows, in: table)
      for row in rows {
        guard let fields = sights[row.key]?.contents.first else { continue }
        let oldest = try oldest(row)
        // A copy of what another scope had before is neither new nor a change.
        if row.created > since, oldest <= since { continue }
        changes.append(
          RuleChanges.Change(
            entity: EntityKey(type: table.type, key: row.key), revision: Revision(row.revision),
            isNew: row.created > since, fields: fields))
      }
    }
    return changes.sorted { $0.revision < $1.revision }
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
