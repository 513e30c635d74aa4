import GRDB
package import Model

extension Store {
  /// Runs one statement that reads, on a connection of its own.
  ///
  /// One runs at a time; the others wait for it.
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
