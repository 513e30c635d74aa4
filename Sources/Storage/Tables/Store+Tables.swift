import GRDB
package import Model

extension Store {
  /// Returns the tables of all types that an operation ever named, with counts.
  package func tables() async throws(StorageError) -> [TableDescription] {
    let named = namedFields
    return try await longReader.read { database in
      try Row.fetchAll(database, sql: QueueTypes.tablesOfOthers)
        .map { try Self.description($0, named: named[$0["name"]], database) }
    }
  }

  /// Drops the tables of types and the columns of fields that no operation names any more.
  /// The file does not shrink; its free pages are reused.
  package func cleanUpTables() async throws(StorageError) -> TableCleanup {
    let (named, known) = (namedFields, catalogue)
    let (cleanup, catalogue) = try await writer.write { database, memory in
      let cleaner = TableCleaner(database: database, memory: memory, named: named)
      return (try cleaner.clean(), try TypeCatalogue(rereading: known, database))
    }
    replaceCatalogue(by: catalogue)
    return cleanup
  }

  /// Drops the table of a type that no operation names any more.
  package func dropTable(of type: String) async throws(TableFault) {
    let (named, known) = (namedFields, catalogue)
    let fault: TableFault?
    do {
      let (found, catalogue) = try await writer.write { database, memory in
        let cleaner = TableCleaner(database: database, memory: memory, named: named)
        return (try cleaner.drop(type), try TypeCatalogue(rereading: known, database))
      }
      replaceCatalogue(by: catalogue)
      fault = found
    } catch {
      throw .unavailable(error)
    }
    if let fault { throw fault }
  }

  private static func description(
    _ row: Row, named: Set<String>?, _ database: Database
  ) throws -> TableDescription {
    let table: String = row["table_name"]
    let counts = try Row.fetchOne(
      database,
      sql: "SELECT count(*) AS every, count(fields) AS stored FROM \(EntityTable.quoted(table))")
    let (every, stored): (Int, Int) = (counts?["every"] ?? 0, counts?["stored"] ?? 0)
    let columns = try Row.fetchAll(
      database,
      sql: """
        SELECT field, column_name, kind, is_indexed FROM entity_column WHERE type = ? ORDER BY field
        """, arguments: [row["id"] as Int64])
    return TableDescription(
      type: row["name"], name: table, entities: stored, tombstones: every - stored,
      columns: columns.map {
        TableDescription.Column(
          field: $0["field"], name: $0["column_name"], kind: $0["kind"],
          isIndexed: $0["is_indexed"], isNamed: named?.contains($0["field"]) ?? false)
      },
      isNamed: named != nil)
  }
}

/// The reason why a type's table was not dropped.
package enum TableFault: Error, Hashable, Sendable {
  /// The type has no table.
  case unknown
  /// Operations name the type, so the table would be created again at the next start.
  case isNamed
  case unavailable(StorageError)
}
