import Dispatch
import GRDB
import Synchronization

/// Holds a store's writer in the middle of a command, and counts its transactions.
final class WriterGate: TransactionObserver, Sendable {
  private let reached = DispatchSemaphore(value: 0)
  private let opened = DispatchSemaphore(value: 0)
  private let commits = Atomic(0)

  /// In the command: stays until ``open()``, its own transaction being the first that is counted.
  func hold(_ db: Database) {
    reached.signal()
    opened.wait()
    db.add(transactionObserver: self, extent: .databaseLifetime)
  }

  /// - Returns: false where the command has not come within ten seconds.
  func isReached() -> Bool { reached.wait(timeout: .now() + 10) == .success }

  func open() { opened.signal() }

  var commitCount: Int { commits.load(ordering: .sequentiallyConsistent) }

  // MARK: TransactionObserver

  func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }

  func databaseDidChange(with event: DatabaseEvent) {}

  func databaseDidCommit(_ db: Database) { commits.add(1, ordering: .sequentiallyConsistent) }

  func databaseDidRollback(_ db: Database) {}
}
