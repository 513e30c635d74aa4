import GRDB

/// Keeps what entities were before each change, so that an observer with a condition is told which
/// of them came into it and which left.
///
/// Only for types that such observers ask for: a trigger on the type's table writes the old fields
/// down in the transaction that replaces them, whoever writes. What is kept is bounded; a cursor from
/// before its beginning is not continued with a condition. A type that nobody asked for between two
/// starts is kept no longer.
struct EntityHistoryRecorder {
  /// Old states of all types.
  static let statesMax = 50_000
  /// Contents of all old states.
  static let bytesMax = 64 << 20
  /// States that go at once where there are too many bytes.
  private static let statesPerCut = 32

  let database: Database
  var bytesMax = Self.bytesMax

  /// Begins, or goes on.
  ///
  /// - Parameter revision: the last one; what changes from here on is kept.
  func keep(_ table: EntityTable, since revision: Int64) throws {
    let isKept = try Bool.fetchOne(
      database, sql: "SELECT EXISTS (SELECT 1 FROM observed WHERE type = ?)",
      arguments: [table.id])
    if isKept != true {
      try removeTriggers(ofType: table.id)
      try addTriggers(to: table)
      try database.execute(
        sql: "INSERT INTO observed SELECT ?, ?, max(number) FROM segment",
        arguments: [table.id, revision])
    }
    try database.execute(
      sql: "UPDATE observed SET asked = (SELECT max(number) FROM segment) WHERE type = ?",
      arguments: [table.id])
    try bound()
  }

  /// At a start, once its segment is there.
  func forgetUnasked() throws {
    let types = try Int64.fetchAll(
      database,
      sql: "SELECT type FROM observed WHERE asked < (SELECT max(number) FROM segment) - 1")
    for type in types {
      try removeTriggers(ofType: type)
      for table in ["observed", "past"] {
        try database.execute(sql: "DELETE FROM \(table) WHERE type = ?", arguments: [type])
      }
    }
  }

  // MARK: Triggers

  /// A state held from the revision that wrote it up to the one that replaced it. Of an entity that is
  /// stored again (it was evicted or purged) nobody knows any more what it was, nor since when: a
  /// state without fields, from the beginning on.
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
        ON CONFLICT DO NOTHING; END
        """)
  }

  /// The oldest states go for those that come, and their types' beginnings move behind them.
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
        UPDATE observed SET since = max(since, (SELECT max(until) FROM past \
        WHERE number <= \(last) AND type = observed.type)) \
        WHERE type IN (SELECT type FROM past WHERE number <= \(last)); \
        DELETE FROM past WHERE number <= \(last); END
        """)
  }

  private func removeTriggers(ofType type: Int64) throws {
    try database.execute(sql: "DROP TRIGGER IF EXISTS \(Self.update(type))")
    try database.execute(sql: "DROP TRIGGER IF EXISTS \(Self.insert(type))")
  }

  private static func update(_ type: Int64) -> String { "past_\(type)_update" }
  private static func insert(_ type: Int64) -> String { "past_\(type)_insert" }
}
