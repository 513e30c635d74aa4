import GRDB
import GRDBSQLite

/// Checks SQL of the app before the store runs it: that it is one statement which reads the view `entities`, and
/// nothing else. The check is SQLite's own, on a database that has no more than that view; the authorizer of
/// the store's connection is GRDB's.
final class AppSQL: Sendable {
  private static let shared = Result { try AppSQL() }

  /// Tables of SQLite's own, of which not even the number of rows is read.
  private static let hidden = ["sqlite_", "pragma_", "dbstat"]

  private let database: DatabaseQueue

  private init() throws {
    database = try DatabaseQueue()
    try database.writeWithoutTransaction { db in
      try db.execute(
        sql: """
          CREATE TEMP TABLE ofTheCheck (type TEXT, id TEXT, data TEXT);
          CREATE TEMP VIEW entities AS SELECT type, id, data FROM ofTheCheck;
          -- Makes them, which the authorizer would refuse.
          SELECT 1 FROM json_each('[]'), json_tree('[]')
          """)
      sqlite3_set_authorizer(
        db.sqliteConnection,
        { _, action, first, second, _, view in
          AppSQL.permits(
            action, first.map { String(cString: $0) }, second.map { String(cString: $0) },
            view.map { String(cString: $0) }) ? SQLITE_OK : SQLITE_DENY
        }, nil)
    }
  }

  /// - Throws: the error of SQLite.
  static func check(_ sql: String) throws {
    try shared.get().database.writeWithoutTransaction { db in _ = try db.makeStatement(sql: sql) }
  }

  /// - Parameters:
  ///   - table: for `SQLITE_READ`.
  ///   - column: empty if nothing but the number of rows is read, also of subqueries.
  ///   - view: the view whose definition reads.
  private static func permits(
    _ action: Int32, _ table: String?, _ column: String?, _ view: String?
  ) -> Bool {
    switch action {
    case SQLITE_SELECT, SQLITE_FUNCTION, SQLITE_RECURSIVE: true
    case SQLITE_READ:
      ["entities", "json_each", "json_tree"].contains(table) || view == "entities"
        || column == "" && !hidden.contains { table?.hasPrefix($0) != false }
    default: false
    }
  }
}
