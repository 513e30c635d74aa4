import GRDB
import GRDBSQLite

/// SQLite's information about its file and its log.
enum WriteAheadLog {
  /// Whether a connection's open file was removed, or another file has its name.
  static func hasMoved(_ database: Database) -> Bool {
    var moved: Int32 = 0
    let code = sqlite3_file_control(
      database.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
    return code == SQLITE_OK && moved != 0
  }

  /// Resets statements that were left between two rows: one alone keeps its connection in a
  /// transaction and the log from being checkpointed.
  ///
  /// - Returns: their SQL; empty if there were none.
  static func resetStatements(of database: Database) -> [String] {
    var open: [String] = []
    var statement = sqlite3_next_stmt(database.sqliteConnection, nil)
    while let current = statement {
      if sqlite3_stmt_busy(current) != 0 {
        open.append(sqlite3_sql(current).map { String(cString: $0) } ?? "")
        sqlite3_reset(current)
      }
      statement = sqlite3_next_stmt(database.sqliteConnection, current)
    }
    return open
  }

  /// Returns the number of pages that a connection has written to the log since it was opened,
  /// wrapping around.
  static func pagesWritten(by database: Database) -> Int32 {
    var count: Int32 = 0
    var highest: Int32 = 0
    sqlite3_db_status(
      database.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &count, &highest, 0)
    return count
  }
}
