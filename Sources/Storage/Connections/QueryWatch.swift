import GRDB
import GRDBSQLite
import Synchronization

/// The time limit of one caller's query, with an injected clock.
package struct QueryDeadline: Sendable {
  package let limit: Duration
  private let uptime: @Sendable () -> Duration

  /// - Parameter uptime: a monotonic clock.
  package init(limit: Duration, uptime: @escaping @Sendable () -> Duration) {
    self.limit = limit
    self.uptime = uptime
  }

  /// Starts the time of a query.
  func begin() -> QueryWatch {
    QueryWatch(end: uptime() + limit, uptime: uptime)
  }

  /// Returns a deadline with the same clock and another limit.
  func with(limit: Duration) -> QueryDeadline {
    QueryDeadline(limit: limit, uptime: uptime)
  }
}

/// The running time of one query from its submission: waiting for a connection counts.
final class QueryWatch: Sendable {
  /// Instructions of SQLite's virtual machine between two checks of the clock: a few microseconds.
  private static let instructionsBetweenLooks: Int32 = 500

  private let end: Duration
  private let uptime: @Sendable () -> Duration
  private let isCancelled = Atomic(false)

  init(end: Duration, uptime: @escaping @Sendable () -> Duration) {
    self.end = end
    self.uptime = uptime
  }

  /// Whether the query must stop.
  var isOver: Bool { isCancelled.load(ordering: .relaxed) || uptime() >= end }

  /// Stops the query at the next check, because its result is no longer needed.
  func cancel() { isCancelled.store(true, ordering: .relaxed) }

  /// Runs reads; a statement that is still running at the end of the time fails as interrupted.
  ///
  /// SQLite checks between instructions of its virtual machine. The work of one instruction is bounded:
  /// `LIKE` and the functions on texts check the time themselves (``LikeFunction``, ``TextFunctions``), and
  /// callers' filters contain no others but `length`.
  func run<Value>(_ connection: QueryConnection, _ body: () throws -> Value) throws -> Value {
    let handle = connection.database.sqliteConnection
    connection.slot.watch = self
    sqlite3_progress_handler(
      handle, Self.instructionsBetweenLooks,
      { context in
        guard let context else { return 0 }
        return Unmanaged<QueryWatch>.fromOpaque(context).takeUnretainedValue().isOver ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
    defer {
      sqlite3_progress_handler(handle, 0, nil, nil)
      connection.slot.watch = nil
    }
    return try withExtendedLifetime(self) { try body() }
  }
}

/// A connection together with the slot where its functions find the watch of the running query.
struct QueryConnection {
  let database: Database
  let slot: WatchSlot
}

/// The watch of the query that runs on a connection.
///
/// Synchronisation: the connection's serial queue. SQLite calls functions on the thread that runs the
/// statement.
// SAFETY: accessed on the connection's serial queue only.
final class WatchSlot: @unchecked Sendable {
  var watch: QueryWatch?
  /// The check for a connection whose deadline is not a watch.
  var isStopped: (() -> Bool)?

  var mayGoOn: Bool { watch.map { !$0.isOver } ?? isStopped.map { !$0() } ?? true }
}
