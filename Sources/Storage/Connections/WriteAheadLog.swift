import GRDB
import GRDBSQLite

/// What SQLite tells of its file and its log.
enum WriteAheadLog {
  /// Whether the file that a connection has open has no name any more, or another file has its name.
  static func hasMoved(_ database: Database) -> Bool {
    var moved: Int32 = 0
    let code = sqlite3_file_control(
      database.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
    return code == SQLITE_OK && moved != 0
  }

  /// Pages that a connection has written to the log since it was opened, wrapping around.
  static func pagesWritten(by database: Database) -> Int32 {
    var count: Int32 = 0
    var highest: Int32 = 0
    sqlite3_db_status(
      database.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &count, &highest, 0)
    return count
  }
}
