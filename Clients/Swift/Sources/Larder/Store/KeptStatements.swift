import GRDB

extension Database {
  /// Executes a statement that is prepared once for the connection: its text must be constant.
  func executeKept(_ sql: String, _ arguments: StatementArguments) throws {
    try cachedStatement(sql: sql).execute(arguments: arguments)
  }
}
