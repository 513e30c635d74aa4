package import Model

/// What a data folder holds, seen from outside: for `larder doctor`.
package struct StoreInspection: Sendable {
  /// A service holds the folder.
  package let isInUse: Bool
  /// What SQLite's quick check found wrong with the file; empty where it is sound.
  package let problems: [String]
  package let sqliteVersion: String
  /// Nil where the file is too damaged to count what it holds.
  package let statistics: StoreStatistics?
  /// Of the write-ahead log, which is copied into the database from time to time.
  package let logBytes: Int
  /// See ``Store/floor``; nil where it cannot be read.
  package let floor: Revision?
  /// The database was written by a newer Larder, which alone can open it.
  package let isNewerSchema: Bool
}
