import GRDB
package import Model

extension Store {
  /// Runs one read-only statement on its own connection.
  ///
  /// Statements run one at a time; others wait.
  package func answer(_ question: SQLQuestion) async throws(SQLFault) -> SQLResult {
    let path = databasePath
    let result: Result<SQLResult, SQLFault>
    do {
      result = try await console.writeWithoutTransaction { _ in
        Result { () throws(SQLFault) in
          try ConsoleDatabase(path: path, mayGoOn: question.mayGoOn).answer(question)
        }
      }
    } catch {
      throw .unavailable(StorageError(error))
    }
    return try result.get()
  }
}

/// One SQL statement of an operator, with its limits.
package struct SQLQuestion: Sendable {
  package let sql: String
  package let arguments: SQLArguments
  package let rowsMax: Int
  /// Maximum bytes of texts and blobs in all rows.
  package let bytesMax: Int
  /// Called repeatedly while the statement runs; false stops it.
  package let mayGoOn: @Sendable () -> Bool

  package init(
    sql: String, arguments: SQLArguments, rowsMax: Int, bytesMax: Int,
    mayGoOn: @escaping @Sendable () -> Bool
  ) {
    self.sql = sql
    self.arguments = arguments
    self.rowsMax = rowsMax
    self.bytesMax = bytesMax
    self.mayGoOn = mayGoOn
  }
}

/// The reason why an operator's SQL statement failed.
package enum SQLFault: Error, Hashable, Sendable {
  /// A syntax or runtime error, with SQLite's message.
  case refused(String)
  /// The statement writes, or reads a protected table or column; with SQLite's message.
  case forbidden(String)
  /// The text contains no statement, or more than one.
  case notOneStatement
  /// The arguments do not match the parameters; one message for each mismatch.
  case arguments([String])
  /// The statement exceeded its time.
  case tooCostly
  case unavailable(StorageError)
}
