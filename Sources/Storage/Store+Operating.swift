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
      try StoreStatistics(
        tables: catalogue.all.filter { $0.type != QueueTypes.outcome }.map { ($0.type, $0.name) },
        sqliteVersion: String.fetchOne(database, sql: "SELECT sqlite_version()") ?? ""
      ) { try Int.fetchOne(database, sql: $0) ?? 0 }
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
