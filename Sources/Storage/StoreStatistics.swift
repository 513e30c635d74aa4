package import Model

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
  /// Of the database file, free pages included.
  package let databaseBytes: Int
  package let freeBytes: Int
  package let head: Revision
  package let sqliteVersion: String

  /// - Parameters:
  ///   - tables: the types with their tables' names.
  ///   - number: runs a statement that gives one number.
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
