import GRDB
import GRDBSQLite
import Synchronization

/// The time of one query, from when it was asked for: waiting for a connection counts.
final class QueryWatch: Sendable {
  /// Instructions of SQLite's machine between two looks at the clock: some microseconds.
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

  /// Has the query stop at the next look: nothing waits for its result.
  func cancel() { isCancelled.store(true, ordering: .relaxed) }

  /// Runs reads; a statement that is still running at the end of the time fails as interrupted.
  ///
  /// SQLite looks between instructions of its machine. What one instruction computes is bounded: `LIKE`
  /// looks by itself (``LikeFunction``), and no other function stands in a caller's filter.
  func run<Answer>(_ connection: QueryConnection, _ body: () throws -> Answer) throws -> Answer {
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

/// A connection together with the place where its functions find the watch of the query that runs.
struct QueryConnection {
  let database: Database
  let slot: WatchSlot
}

/// The watch of the query that runs on a connection.
///
/// Who guards it: the connection's serial queue. SQLite calls functions on the thread that steps.
// SAFETY: touched on the connection's serial queue only.
final class WatchSlot: @unchecked Sendable {
  var watch: QueryWatch?
  /// For a connection whose deadline is not a watch's.
  var isStopped: (() -> Bool)?

  var mayGoOn: Bool { watch.map { !$0.isOver } ?? isStopped.map { !$0() } ?? true }
}
