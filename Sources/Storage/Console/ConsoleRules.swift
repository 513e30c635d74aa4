import GRDBSQLite

/// What an operator's statement may do: read the tables, but for the columns that hold secrets.
///
/// New tables are open as soon as they are there, so a column with a secret must have a name that
/// says so. Types' own tables hold what upstream said, and are all open.
enum ConsoleRules {
  private static let secretEndings = [
    "_digest", "_hash", "_token", "_secret", "_sealed", "_credential", "password",
  ]
  /// They show pages or statements as they are, whatever columns lie in them.
  private static let closedTables: Set<String> = [
    "sqlite_dbpage", "sqlite_stmt", "bytecode", "tables_used",
  ]
  private static let closedFunctions: Set<String> = [
    "load_extension", "readfile", "writefile", "edit", "fts3_tokenizer",
    // Their time grows with the product of their arguments' lengths, and nothing stops them.
    "json_patch",
  ]

  static func isSecret(column: String, of table: String) -> Bool {
    !table.hasPrefix("entity_") && secretEndings.contains { column.hasSuffix($0) }
  }

  /// - Parameters: as SQLite's authorizer callback has them; what they mean depends on the action.
  static func allows(_ action: Int32, _ first: String, _ second: String) -> Bool {
    switch action {
    case SQLITE_SELECT, SQLITE_RECURSIVE: true
    case SQLITE_READ:
      !closedTables.contains(first) && !isSecret(column: second, of: first)
    // SQLite asks this while it readies a table-valued function; it lets nobody do it.
    case SQLITE_UPDATE: first == "sqlite_master"
    case SQLITE_FUNCTION: !closedFunctions.contains(second)
    default: false
    }
  }
}
