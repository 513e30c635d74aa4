import GRDB
import GRDBSQLite

/// What SQLite tells of its log.
enum WriteAheadLog {
  /// Pages that a connection has written to the log since it was opened, wrapping around.
  static func pagesWritten(by database: Database) -> Int32 {
    var count: Int32 = 0
    var highest: Int32 = 0
    sqlite3_db_status(
      database.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &count, &highest, 0)
    return count
  }
}
