import Dispatch
import GRDB
import Model
import Synchronization

/// Holds a store's writer in the middle of a command, and counts its transactions.
final class WriterGate: TransactionObserver, Sendable {
  private let reached = DispatchSemaphore(value: 0)
  private let opened = DispatchSemaphore(value: 0)
  private let commits = Atomic(0)

  /// Called in the command: blocks until ``open()``; its own transaction is the first that is
  /// counted.
  func hold(_ db: Database) {
    reached.signal()
    opened.wait()
    db.add(transactionObserver: self, extent: .databaseLifetime)
  }

  /// - Returns: false if the command has not arrived within ten seconds.
  func isReached() -> Bool { reached.wait(timeout: .now() + 10) == .success }

  func open() { opened.signal() }

  var commitCount: Int { commits.load(ordering: .sequentiallyConsistent) }

  // MARK: TransactionObserver

  func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }

  func databaseDidChange(with event: DatabaseEvent) {}

  func databaseDidCommit(_ db: Database) { commits.add(1, ordering: .sequentiallyConsistent) }

  func databaseDidRollback(_ db: Database) {}
}

/// Collects the reports of commits.
final class ReportRecorder: Sendable {
  private let reports = Mutex<[CommitReport]>([])

  func note(_ report: CommitReport) { reports.withLock { $0.append(report) } }

  var count: Int { reports.withLock { $0.count } }

  var revisions: [Revision] { reports.withLock { $0.compactMap(\.revision) } }
}
