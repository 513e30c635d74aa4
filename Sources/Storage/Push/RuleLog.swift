import GRDB
import Model

/// Reads the change log for push rules: each scope separately, since rules have no viewer.
///
/// Rows of devices are skipped except for local types: for upstream types they are optimistic updates, which
/// can be rejected, or local fields, as those of users are.
struct RuleLog {
  /// Maximum rows read for one page.
  static let rowsMax = 256

  let database: Database
  let catalogue: TypeCatalogue

  /// Returns a page with as many scopes as fit, in commit order: so a rule's last notification of an entity
  /// that changed in two scopes does not depend on when the rule reads.
  func page(_ query: RuleQuery) throws -> RuleChanges {
    let types = query.types.compactMap { catalogue[$0]?.id }
    let localTypes = try localTypes()
    var changes: [RuleChanges.Change] = []
    var read: [RulePlace] = []
    var room = Self.rowsMax
    for scope in try scopes(query) {
      let sought = Set(scope.isOwn ? types.filter(localTypes.contains) : types)
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

  private func scopes(_ query: RuleQuery) throws -> [(id: Int64, isOwn: Bool)] {
    let from = query.place?.scope ?? .min
    guard let named = query.scopes else { return try allScopes(from: from) }
    return try named.compactMap { scope in
      try ScopeTable.find(scope, database).map { ($0, scope.kind == .device || scope.isOwnData) }
    }.filter { $0.0 >= from }.sorted { $0.0 < $1.0 }
  }

  private func allScopes(from first: Int64) throws -> [(id: Int64, isOwn: Bool)] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT id, kind = \(Scope.Kind.device.rawValue) OR division = '\(Scope.ownPartition)' \
      FROM scope WHERE id >= ?1 ORDER BY id
      """)
    statement.bind(first, at: 1)
    defer { statement.reset() }
    var scopes: [(Int64, Bool)] = []
    while try statement.step() {
      scopes.append((statement.int64(0), statement.int64(1) != 0))
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
      let views = try loader.views(of: rows, in: entities)
      for row in rows {
        guard let fields = views[ExactText(row.key)]?.contents.first else { continue }
        let read = try table.revisionRead(of: RulePlace(row, in: scope)) ?? since
        for (state, isNew) in try states(of: row, now: fields, in: scope, since: max(since, read)) {
          changes.append(
            RuleChanges.Change(
              entity: EntityKey(type: entities.type, key: row.key), scope: scope,
              revision: Revision(state.revision), isNew: isNew, fields: state.fields))
        }
      }
    }
    return changes
  }

  /// Returns one state for each commit that changed the entity; the last one is the current state.
  private func states(
    of row: ChangeRow, now fields: [UInt8], in scope: Int64, since: Int64
  ) throws -> [(RuleStates.State, isNew: Bool)] {
    guard row.revision > since else { return [] }
    // For an entity that was deleted and created again, states before the deletion are skipped.
    let isNew = row.created > since
    var states = try RuleStates(database: database).ended(
      of: row, in: scope, since: isNew ? row.created - 1 : since)
    states.append(RuleStates.State(revision: row.revision, fields: fields))
    guard isNew else { return states.map { ($0, false) } }
    // A copy of an entity that another scope had before is neither new nor a change.
    if try oldest(row) < row.created { return states.dropFirst().map { ($0, false) } }
    return states.enumerated().map { place, state in (state, place == 0) }
  }

  private static func sorted(_ changes: [RuleChanges.Change]) -> [RuleChanges.Change] {
    changes.sorted {
      ($0.revision, $0.entity.type, $0.entity.key, $0.scope)
        < ($1.revision, $1.entity.type, $1.entity.key, $1.scope)
    }
  }

  /// Returns the first revision of the entity in any scope.
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

/// An entity's states after each of its commits, for push rules; the change log itself has only the last.
///
/// States come from the stored entity history (``EntityHistoryRecorder``); missing ones are skipped.
struct RuleStates {
  struct State {
    let revision: Int64
    let fields: [UInt8]
  }

  /// Maximum states of one entity in one read; the latest count. More accumulate only if rules have not read
  /// for long, and would give as many notifications of the same entity at once.
  static let statesMax = 64

  let database: Database

  /// Returns the states that began after the revision and have ended, oldest first. States overwritten within
  /// the same commit are skipped.
  func ended(of row: ChangeRow, in scope: Int64, since revision: Int64) throws -> [State] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT since, fields FROM past WHERE type = ?1 AND key = ?2 AND scope = ?3 AND until > ?4 \
      AND since > ?4 AND since < until AND fields IS NOT NULL ORDER BY until DESC LIMIT ?5
      """)
    statement.bind(row.type, at: 1)
    statement.bind(row.key, at: 2)
    statement.bind(scope, at: 3)
    statement.bind(revision, at: 4)
    statement.bind(Int64(Self.statesMax), at: 5)
    defer { statement.reset() }
    var states: [State] = []
    while try statement.step() {
      guard let fields = statement.bytes(1) else { continue }
      states.append(State(revision: statement.int64(0), fields: fields))
    }
    return states.reversed()
  }
}
