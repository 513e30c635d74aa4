import GRDB
import Model

/// Records the states of entities before each change, so that an observer with a condition learns
/// which entities entered it and which left.
///
/// Only for types that such observers ask for: a trigger on the type's table records the old fields
/// in the transaction that replaces them, whichever command writes. The history is bounded; a
/// cursor from before its beginning cannot be continued with a condition. Recording stops for a
/// type that no observer asked for between two starts.
struct EntityHistoryRecorder {
  /// Limit of old states of all types.
  static let statesMax = 50_000
  /// Limit of the contents of all old states, in bytes.
  static let bytesMax = 64 << 20
  /// States that are removed at once when there are too many bytes.
  private static let statesPerCut = 32

  let database: Database
  var bytesMax = Self.bytesMax

  /// Starts or continues recording a type.
  ///
  /// - Parameter revision: the current revision; later changes are recorded.
  func record(_ table: EntityTable, since revision: Int64) throws {
    // A history without all of the triggers begins again.
    let isKept = try Bool.fetchOne(
      database,
      sql: """
        SELECT EXISTS (SELECT 1 FROM observed WHERE type = ?) \
        AND EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND name = ?)
        """, arguments: [table.id, Self.remove(table.id)])
    if isKept != true {
      try removeTriggers(ofType: table.id)
      try addTriggers(to: table)
      try database.execute(
        sql: "INSERT OR REPLACE INTO observed SELECT ?, ?, max(number) FROM segment",
        arguments: [table.id, revision])
    }
    try database.execute(
      sql: "UPDATE observed SET asked = (SELECT max(number) FROM segment) WHERE type = ?",
      arguments: [table.id])
    try bound()
  }

  /// Stops recording types that no observer asked for. Called at a start, once its segment exists.
  func stopUnobserved() throws {
    let types = try Int64.fetchAll(
      database,
      sql: "SELECT type FROM observed WHERE asked < (SELECT max(number) FROM segment) - 1")
    for type in types {
      try removeTriggers(ofType: type)
      try database.execute(sql: "DELETE FROM observed WHERE type = ?", arguments: [type])
      try database.execute(
        sql: "DELETE FROM past WHERE type IN (?, ?)",
        arguments: [type, Self.removedType(type)])
    }
  }

  // MARK: Triggers

  /// A state held from the revision that wrote it up to the one that replaced it. If an entity is
  /// stored again (it was evicted or purged), its earlier state and its beginning are unknown: a
  /// state without fields, from the beginning on. A device's row that is removed, an optimistic
  /// update or local fields, has a state of a type of its own (``removedType(_:)``): the revision of its
  /// removal is not known here.
  private func addTriggers(to table: EntityTable) throws {
    try database.execute(
      sql: """
        CREATE TRIGGER \(Self.update(table.id)) AFTER UPDATE OF fields \
        ON \(EntityTable.quoted(table.name)) \
        WHEN old.fields IS NOT NULL AND old.fields IS NOT new.fields BEGIN \
        INSERT INTO past (type, scope, key, since, until, fields) \
        VALUES (\(table.id), old.scope, old.key, old.revision, new.revision, old.fields) \
        ON CONFLICT DO NOTHING; END;
        CREATE TRIGGER \(Self.insert(table.id)) AFTER INSERT \
        ON \(EntityTable.quoted(table.name)) \
        WHEN EXISTS (SELECT 1 FROM change \
        WHERE scope = new.scope AND type = \(table.id) AND key = new.key) BEGIN \
        INSERT INTO past (type, scope, key, since, until, fields) \
        VALUES (\(table.id), new.scope, new.key, 0, new.revision, NULL) \
        ON CONFLICT DO NOTHING; END;
        CREATE TRIGGER \(Self.remove(table.id)) AFTER DELETE \
        ON \(EntityTable.quoted(table.name)) WHEN old.fields IS NOT NULL \
        AND EXISTS (SELECT 1 FROM scope WHERE id = old.scope \
        AND kind = \(Scope.Kind.device.rawValue)) BEGIN \
        INSERT INTO past (type, scope, key, since, until, fields) \
        VALUES (\(Self.removedType(table.id)), old.scope, old.key, old.revision, \
        old.revision + \(Self.removalDelayMax), old.fields) ON CONFLICT DO NOTHING; END
        """)
  }

  /// Removes the oldest states as new ones are added, and moves the beginnings of their types after
  /// them.
  private func bound() throws {
    let isTooLarge = "(SELECT bytes FROM past_size) > \(bytesMax)"
    let last = """
      max(new.number - \(Self.statesMax), CASE WHEN \(isTooLarge) THEN coalesce((SELECT number \
      FROM past ORDER BY number LIMIT 1 OFFSET \(Self.statesPerCut - 1)), new.number) ELSE 0 END)
      """
    try database.execute(
      sql: """
        DROP TRIGGER IF EXISTS past_bound;
        CREATE TRIGGER past_bound AFTER INSERT ON past \
        WHEN new.number > \(Self.statesMax) OR \(isTooLarge) BEGIN \
        UPDATE observed SET since = max(since, \
        (SELECT max(iif(type < 0, (SELECT revision + 1 FROM counter), until)) FROM past \
        WHERE number <= \(last) AND type IN (observed.type, -observed.type))) \
        WHERE type IN (SELECT max(type, -type) FROM past WHERE number <= \(last)); \
        DELETE FROM past WHERE number <= \(last); END
        """)
  }

  private func removeTriggers(ofType type: Int64) throws {
    try database.execute(sql: "DROP TRIGGER IF EXISTS \(Self.update(type))")
    try database.execute(sql: "DROP TRIGGER IF EXISTS \(Self.insert(type))")
    try database.execute(sql: "DROP TRIGGER IF EXISTS \(Self.remove(type))")
  }

  private static func update(_ type: Int64) -> String { "past_\(type)_update" }
  private static func insert(_ type: Int64) -> String { "past_\(type)_insert" }
  private static func remove(_ type: Int64) -> String { "past_\(type)_delete" }

  /// The number under which the last states of a type's removed rows of devices are recorded.
  static func removedType(_ type: Int64) -> Int64 { -type }

  /// More than the revisions that a database ever has.
  private static let removalDelayMax: Int64 = 1 << 48
}

/// Loads earlier states of entities of one type, see ``EntityHistoryRecorder``.
struct EntityHistoryLoader {
  /// The state in one scope at an earlier revision.
  enum State {
    /// The same as now, or nothing.
    case unchanged
    case fields([UInt8])
    /// It was stored again since, and whether it existed before is not known any more.
    case unknown

    var isFields: Bool { if case .fields = self { true } else { false } }
  }

  let database: Database
  let type: Int64
  /// Narrowest first.
  let scopes: [Int64]

  /// Returns the first revision from which the history is complete; nil if none is kept.
  func since() throws -> Int64? {
    let statement = try PreparedStatement(database, "SELECT since FROM observed WHERE type = ?1")
    statement.bind(type, at: 1)
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : nil
  }

  /// Returns, by key, a state for each scope.
  func states(of keys: some Sequence<String>, at base: Int64) throws -> [ExactText: [State]] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT key, scope, fields, max(since) FROM past WHERE type = ?1 \
      AND key IN (SELECT value FROM json_each(?2)) \
      AND scope IN (SELECT value FROM json_each(?3)) AND since <= ?4 AND until > ?4 \
      GROUP BY key, scope
      """)
    statement.bind(type, at: 1)
    try statement.bind(KeyList.json(keys), at: 2)
    statement.bind(KeyList.json(numbers: scopes), at: 3)
    statement.bind(base, at: 4)
    defer { statement.reset() }
    let unchanged = [State](repeating: .unchanged, count: scopes.count)
    var states: [ExactText: [State]] = [:]
    while try statement.step() {
      guard let layer = scopes.firstIndex(of: statement.int64(1)) else { continue }
      let state = statement.bytes(2).map { State.fields($0) } ?? .unknown
      states[ExactText(statement.string(0)), default: unchanged][layer] = state
    }
    return states
  }
}
