import GRDB
package import Model

extension Store {
  /// Ends normally if the database takes a write now; otherwise says why not.
  package func probe() async throws(StorageError) {
    try await writer.write { database, _ in
      try PreparedStatement(database, "UPDATE counter SET probes = probes + 1 WHERE id = 1").run()
    }
  }

  package func statistics() async throws(StorageError) -> StoreStatistics {
    let catalogue = catalogue
    return try await longReader.read { database in
      func count(_ sql: String) throws -> Int { try Int.fetchOne(database, sql: sql) ?? 0 }
      let tables = try catalogue.all.map { table in
        let name = EntityTable.quoted(table.name)
        let rows = try count("SELECT count(*) FROM \(name)")
        let entities = try count("SELECT count(fields) FROM \(name)")
        return StoreStatistics.Table(
          type: table.type, table: table.name, entities: entities, tombstones: rows - entities)
      }
      let pageBytes = try count("PRAGMA page_size")
      return StoreStatistics(
        tables: tables, results: try count("SELECT count(*) FROM result"),
        changes: try count("SELECT count(*) FROM change"),
        scopes: try count("SELECT count(*) FROM scope"),
        databaseBytes: try count("PRAGMA page_count") * pageBytes,
        freeBytes: try count("PRAGMA freelist_count") * pageBytes,
        head: Revision(try ResultLoader.revision(database)),
        sqliteVersion: try String.fetchOne(database, sql: "SELECT sqlite_version()") ?? "")
    }
  }

  /// When, from what and why due a result is; nil where it is not stored.
  package func explain(_ key: ResultKey) async throws(StorageError) -> ResultExplanation? {
    let directory = directory
    return try await longReader.read { database in
      try Explainer(database: database, directory: directory).explain(key)
    }
  }

  /// The SQL table that holds a type; nil for a type the store was not opened with.
  package func tableName(of type: String) -> String? { catalogue[type]?.name }
}
