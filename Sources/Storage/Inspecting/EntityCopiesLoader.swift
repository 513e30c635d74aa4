import GRDB
import Model

/// Reads all rows of one entity, in every scope.
struct EntityCopiesLoader {
  /// Results that are searched for the call of a field, newest first: no index has calls.
  private static let resultsMax = 50_000

  let database: Database
  let table: EntityTable

  func load(_ key: String, limit: Int) throws -> [EntityCopy] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT stored.scope, stored.call, stored.received, stored.revision, stored.barrier, \
      stored.due, stored.stamps, stored.fields \
      FROM (SELECT \(ScopeTable.publicID) AS scope UNION \
      SELECT scope FROM private_row WHERE type = ?1 AND key = ?2) AS wanted \
      CROSS JOIN \(EntityTable.quoted(table.name)) AS stored \
      ON stored.scope = wanted.scope AND stored.key = ?2 ORDER BY stored.scope LIMIT ?3
      """)
    statement.bind(table.id, at: 1)
    statement.bind(key, at: 2)
    statement.bind(Int64(limit), at: 3)
    defer { statement.reset() }
    var rows: [Row] = []
    while try statement.step() {
      guard let scope = try ScopeTable.scope(statement.int64(0), database) else { continue }
      let (call, barrier) = (statement.int64(1), statement.int64(4))
      let state = try statement.bytes(7).map {
        try RowState(fields: $0, stamps: statement.bytes(6), call: call, barrier: barrier)
      }
      rows.append(
        Row(
          scope: scope, received: Timestamp(milliseconds: statement.int64(2)),
          revision: Revision(statement.int64(3)), isDue: statement.int64(5) > call,
          fields: state?.fields ?? []))
    }
    let operations = try operations(ofCalls: Set(rows.flatMap { $0.fields.map(\.call) }))
    return rows.map { row in
      EntityCopy(
        scope: row.scope, received: row.received, revision: row.revision, isDue: row.isDue,
        fields: row.fields.map {
          EntityCopy.Field(name: $0.name, value: $0.value, operation: operations[$0.call])
        })
    }
  }

  /// Returns the recorded earlier states of the entity.
  func history(of key: String, limit: Int) throws -> EntityHistory {
    let loader = EntityHistoryLoader(database: database, type: table.id, scopes: [])
    let statement = try PreparedStatement(
      database,
      """
      SELECT scope, since, until, fields FROM past WHERE type = ?1 AND key = ?2 \
      ORDER BY until DESC, number DESC LIMIT ?3
      """)
    statement.bind(table.id, at: 1)
    statement.bind(key, at: 2)
    statement.bind(Int64(limit), at: 3)
    defer { statement.reset() }
    var states: [EntityHistory.State] = []
    while try statement.step() {
      guard let scope = try ScopeTable.scope(statement.int64(0), database) else { continue }
      let row = try statement.bytes(3).map {
        try RowState(fields: $0, stamps: nil, call: 0, barrier: 0)
      }
      states.append(
        EntityHistory.State(
          scope: scope, since: Revision(statement.int64(1)), until: Revision(statement.int64(2)),
          fields: row?.fields.map {
            EntityCopy.Field(name: $0.name, value: $0.value, operation: nil)
          }))
    }
    return EntityHistory(
      recordedSince: try loader.since().map { Revision($0) }, states: states)
  }

  private struct Row {
    let scope: Scope
    let received: Timestamp
    let revision: Revision
    let isDue: Bool
    let fields: [RowState.Field]
  }

  private func operations(ofCalls calls: Set<Int64>) throws -> [Int64: String] {
    guard !calls.isEmpty else { return [:] }
    let statement = try PreparedStatement(
      database,
      """
      SELECT call, operation FROM (SELECT call, operation FROM result ORDER BY id DESC LIMIT ?1) \
      WHERE call IN (SELECT value FROM json_each(?2))
      """)
    statement.bind(Int64(Self.resultsMax), at: 1)
    statement.bind(KeyList.json(numbers: calls), at: 2)
    defer { statement.reset() }
    var operations: [Int64: String] = [:]
    while try statement.step() { operations[statement.int64(0)] = statement.string(1) }
    return operations
  }
}
