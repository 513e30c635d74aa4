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
}
