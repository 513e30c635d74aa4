package import Model
package import Storage

/// Statements of an operator's that read the database.
package struct SQLConsole: Sendable {
  package static let rowsMax = 10_000
  package static let rowsMaxByDefault = 1_000
  /// Of one answer: what a console shows, not what a backup is for.
  private static let bytesMax = 8 << 20

  private let store: ReadSession
  private let deadline: Duration
  private let clock: WallClock

  /// - Parameter deadline: how long one statement may run.
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
        .malformedRequest, "SQLite refuses the statement: \(message).", details: [sql(message)])
    case .forbidden(let message):
      Failure(.forbidden, "A statement may read what holds no secrets, and no more: \(message).")
    case .notOneStatement:
      Failure(
        .malformedRequest, "The text is not one statement.", details: [sql("is one statement")])
    case .arguments(let faults):
      Failure(
        .malformedRequest, "The arguments are not those of the statement.",
        details: faults.map { Failure.Detail(place: .pointer("/args"), detail: $0) })
    case .tooCostly:
      Failure(
        .tooCostly, "The statement ran longer than statements may.", retry: .never)
    case .unavailable(let error):
      Failure(
        .storageUnavailable, "The store cannot be read at present.", retry: .after,
        retryAfter: .seconds(5), cause: "\(error)")
    }
  }

  private static func sql(_ detail: String) -> Failure.Detail {
    Failure.Detail(place: .pointer("/sql"), detail: detail)
  }
}
