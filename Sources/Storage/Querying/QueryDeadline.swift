import GRDB
import GRDBSQLite

/// How long one query of a caller's making may run, by a clock that is a parameter.
package struct QueryDeadline: Sendable {
  package let limit: Duration
  private let uptime: @Sendable () -> Duration

  /// - Parameter uptime: any clock that never goes back.
  package init(limit: Duration, uptime: @escaping @Sendable () -> Duration) {
    self.limit = limit
    self.uptime = uptime
  }

  /// Instructions of SQLite's machine between two looks at the clock: about 0.1 ms.
  private static let instructionsBetweenLooks: Int32 = 10_000

  private final class Watch {
    let end: Duration
    let uptime: @Sendable () -> Duration

    init(end: Duration, uptime: @escaping @Sendable () -> Duration) {
      self.end = end
      self.uptime = uptime
    }
  }

  /// Runs reads; a statement that is still running at the end of the time fails as interrupted.
  func run<Answer>(_ db: Database, _ body: () throws -> Answer) throws -> Answer {
    let watch = Watch(end: uptime() + limit, uptime: uptime)
    let connection = db.sqliteConnection
    return try withExtendedLifetime(watch) {
      sqlite3_progress_handler(
        connection, Self.instructionsBetweenLooks,
        { context in
          guard let context else { return 0 }
          let watch = Unmanaged<Watch>.fromOpaque(context).takeUnretainedValue()
          return watch.uptime() >= watch.end ? 1 : 0
        }, Unmanaged.passUnretained(watch).toOpaque())
      defer { sqlite3_progress_handler(connection, 0, nil, nil) }
      return try body()
    }
  }
}
