import GRDB
package import Model

extension Store {
  /// Returns normally if the database accepts a write now; otherwise throws the reason.
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

  /// Returns the age, origin and reasons for refetching of a result; nil if it is not stored.
  package func explain(_ key: ResultKey) async throws(StorageError) -> ResultExplanation? {
    let directory = directory
    return try await longReader.read { database in
      try ResultExplainer(database: database, directory: directory).explain(key)
    }
  }

  /// Returns the stored copies of an entity in all scopes; nil for a type the store was not opened with.
  package func copies(
    of key: EntityKey, limit: Int
  ) async throws(StorageError) -> [EntityCopy]? {
    guard let table = catalogue[key.type] else { return nil }
    return try await longReader.read { database in
      try EntityCopiesLoader(database: database, table: table).load(key.key, limit: limit)
    }
  }

  /// Returns what is recorded of the earlier states of an entity in all scopes; nil for a type the store was
  /// not opened with.
  package func history(of key: EntityKey, limit: Int) async throws(StorageError) -> EntityHistory? {
    guard let table = catalogue[key.type] else { return nil }
    return try await longReader.read { database in
      try EntityCopiesLoader(database: database, table: table).history(of: key.key, limit: limit)
    }
  }

  /// Returns the SQL table that holds a type; nil for a type the store was not opened with.
  package func tableName(of type: String) -> String? { catalogue[type]?.name }
}

/// The time until which the service has run, on the clock that everything expires by: a start
/// compares the wall clock with it.
extension Store {
  /// Returns the time; nil before it was first recorded.
  package func livedUntil() async throws(StorageError) -> Timestamp? {
    try await reader.read { database in
      let statement = try PreparedStatement(database, "SELECT until FROM lived WHERE id = 1")
      defer { statement.reset() }
      return try statement.step() ? Timestamp(milliseconds: statement.int64(0)) : nil
    }
  }

  package func noteLived(until time: Timestamp) async throws(StorageError) {
    try await writer.write { database, _ in
      let statement = try PreparedStatement(
        database, "INSERT OR REPLACE INTO lived (id, until) VALUES (1, ?1)")
      statement.bind(time.milliseconds, at: 1)
      try statement.run()
    }
  }
}

/// Counts and sizes for the console and for metrics.
package struct StoreStatistics: Sendable, Hashable {
  package struct Table: Sendable, Hashable {
    package let type: String
    /// The name in SQL, see ``Store/tableName(of:)``.
    package let table: String
    package let entities: Int
    package let tombstones: Int
  }

  package let tables: [Table]
  package let results: Int
  package let changes: Int
  package let scopes: Int
  /// The size of the database file, free pages included.
  package let databaseBytes: Int
  package let freeBytes: Int
  package let head: Revision
  package let sqliteVersion: String

  /// - Parameters:
  ///   - tables: the types with their tables' names.
  ///   - number: runs a statement that returns one number.
  init(
    tables: [(type: String, name: String)], sqliteVersion: String,
    number: (_ sql: String) throws -> Int
  ) throws {
    self.tables = try tables.map { type, name in
      let rows = try number("SELECT count(*) FROM \(EntityTable.quoted(name))")
      let entities = try number("SELECT count(fields) FROM \(EntityTable.quoted(name))")
      return Table(type: type, table: name, entities: entities, tombstones: rows - entities)
    }
    results = try number("SELECT count(*) FROM result")
    changes = try number("SELECT count(*) FROM change")
    scopes = try number("SELECT count(*) FROM scope")
    let pageBytes = try number("PRAGMA page_size")
    databaseBytes = try number("PRAGMA page_count") * pageBytes
    freeBytes = try number("PRAGMA freelist_count") * pageBytes
    head = Revision(Int64(try number("SELECT revision FROM counter WHERE id = 1")))
    self.sqliteVersion = sqliteVersion
  }
}
