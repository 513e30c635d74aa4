import Model
import Synchronization

/// Collects what an observer is told.
final class Heard: Sendable {
  private let reports = Mutex<[CommitReport]>([])

  func note(_ report: CommitReport) { reports.withLock { $0.append(report) } }

  var count: Int { reports.withLock { $0.count } }

  var revisions: [Revision] { reports.withLock { $0.compactMap(\.revision) } }
}
