import GRDB
import Synchronization

/// Sits on the writer's connection: counts commits, and refuses the next where it is told to, as a
/// disk without room does.
final class CommitFailpoint: TransactionObserver, Sendable {
  private struct State {
    var commitCount = 0
    var isArmed = false
  }

  private let state = Mutex(State())

  var commitCount: Int { state.withLock { $0.commitCount } }

  func arm() { state.withLock { $0.isArmed = true } }

  /// - Returns: whether it was armed still: nothing was to be committed.
  func disarm() -> Bool {
    state.withLock { state in
      defer { state.isArmed = false }
      return state.isArmed
    }
  }

  func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }

  func databaseDidChange(with event: DatabaseEvent) {}

  func databaseWillCommit() throws {
    if disarm() { throw DatabaseError(resultCode: .SQLITE_FULL) }
  }

  func databaseDidCommit(_ db: Database) { state.withLock { $0.commitCount += 1 } }

  func databaseDidRollback(_ db: Database) {}
}
