package import Model
package import Storage

/// Runs an operator's read-only SQL statements.
package struct SQLConsole: Sendable {
  package static let rowsMax = 10_000
  package static let rowsMaxByDefault = 1_000
  /// Maximum bytes of one result; backups are for larger ones.
  private static let bytesMax = 8 << 20

  private let store: ReadSession
  private let deadline: Duration
  private let clock: WallClock

  /// - Parameter deadline: the maximum run time of one statement.
  package init(store: ReadSession, deadline: Duration, clock: WallClock) {
    self.store = store
    self.deadline = deadline
    self.clock = clock
  }

  package func answer(
    _ sql: String, _ arguments: SQLArguments, rowsMax: Int
  ) async throws(Failure) -> SQLResult {
    let clock = clock
    let end = clock.now().advanced(by: deadline)
    let question = SQLQuestion(
      sql: sql, arguments: arguments, rowsMax: rowsMax, bytesMax: Self.bytesMax,
      mayGoOn: { clock.now() < end })
    do throws(SQLFault) {
      return try await store.answer(question)
    } catch {
      throw Self.failure(error)
    }
  }

  private static func failure(_ fault: SQLFault) -> Failure {
    switch fault {
    case .refused(let message):
      Failure(
        .malformedRequest, "SQLite rejected the statement: \(message).", details: [sql(message)])
    case .forbidden(let message):
      Failure(.forbidden, "Statements can only read tables without secrets: \(message).")
    case .notOneStatement:
      Failure(
        .malformedRequest, "The text must be exactly one statement.",
        details: [sql("must be exactly one statement")])
    case .arguments(let faults):
      Failure(
        .malformedRequest, "The arguments do not match the statement's parameters.",
        details: faults.map { Failure.Detail(place: .pointer("/args"), detail: $0) })
    case .tooCostly:
      Failure(
        .tooCostly, "The statement exceeded the time limit.", retry: .never)
    case .unavailable(let error):
      Failure(
        .storageUnavailable, "The database cannot be read; retry later.", retry: .after,
        retryAfter: .seconds(5), cause: "\(error)")
    }
  }

  private static func sql(_ detail: String) -> Failure.Detail {
    Failure.Detail(place: .pointer("/sql"), detail: detail)
  }
}
