import GRDB
import Model

/// Removes tables and columns that no operation names any more.
///
/// Tables are created from the operations. When an operation is removed, its tables and columns stay until
/// an operator requests the cleanup: the operation might be added again.
struct TableCleaner {
  private struct StoredType {
    let id: Int64
    let name: String
    let table: String
  }

  let database: Database
  let memory: WriterMemory
  /// The fields that operations name, by type.
  let named: [String: Set<String>]

  func clean() throws -> TableCleanup {
    var cleanup = TableCleanup()
    let local = try LocalRecord.types(database).union(LocalFieldRows.types(database))
    for type in try types() {
      guard let fields = named[type.name] else {
        // Local types and fields cannot be fetched again: their tables are dropped only by name.
        guard !local.contains(type.id) else { continue }
        try drop(type)
        cleanup.types.append(type.name)
        continue
      }
      for field in try dropColumns(of: type, except: fields) {
        cleanup.columns.append(TableCleanup.Column(type: type.name, field: field))
      }
    }
    return cleanup
  }

  func drop(_ name: String) throws -> TableFault? {
    guard let type = try types().first(where: { $0.name == name }) else { return .unknown }
    guard named[name] == nil else { return .isNamed }
    try drop(type)
    return nil
  }

  private func types() throws -> [StoredType] {
    try Row.fetchAll(database, sql: QueueTypes.tablesOfOthers)
      .map { StoredType(id: $0["id"], name: $0["name"], table: $0["table_name"]) }
  }

  /// Drops a type's table with its change rows. Readers cannot learn about removed change rows, so the floor
  /// rises over them and older cursors must start again.
  private func drop(_ type: StoredType) throws {
    let last = try Int64.fetchOne(
      database, sql: "SELECT max(revision) FROM change WHERE type = ?", arguments: [type.id])
    memory.counters.floor = max(memory.counters.floor, last ?? 0)
    // An eviction pass in progress holds row numbers of the dropped table.
    memory.eviction = nil
    let tables = [
      "change", "gone", "private_row", "past", "observed", "entity_column", "hook_moment",
      "local_field_row",
    ]
    for table in tables {
      try database.execute(sql: "DELETE FROM \(table) WHERE type = ?", arguments: [type.id])
    }
    try database.execute(
      sql: "DELETE FROM past WHERE type = ?",
      arguments: [EntityHistoryRecorder.removedType(type.id)])
    try UsageSchema.forget(table: type.table, id: type.id, database)
    try database.execute(sql: "DROP TABLE \(EntityTable.quoted(type.table))")
    try SearchIndex.drop(ofType: type.id, database)
    try database.execute(sql: "DELETE FROM entity_type WHERE id = ?", arguments: [type.id])
  }

  private func dropColumns(of type: StoredType, except fields: Set<String>) throws -> [String] {
    let columns = try Row.fetchAll(
      database,
      sql: "SELECT field, column_name FROM entity_column WHERE type = ? ORDER BY field",
      arguments: [type.id])
    let unnamed = columns.map { (field: $0["field"] as String, name: $0["column_name"] as String) }
      .filter { !fields.contains($0.field) }
    for column in unnamed {
      try database.execute(
        sql: "DROP INDEX IF EXISTS \(EntityTable.quoted("index_\(type.id)_\(column.name)"))")
      try database.execute(
        sql: """
          ALTER TABLE \(EntityTable.quoted(type.table)) \
          DROP COLUMN \(EntityTable.quoted(column.name))
          """)
      try database.execute(
        sql: "DELETE FROM entity_column WHERE type = ? AND field = ?",
        arguments: [type.id, column.field])
    }
    return unnamed.map(\.field)
  }
}
