import Dispatch
import Model
import Storage
import Synchronization

/// A clock that blocks the first query that checks it while running, so that a test can observe what
/// happens during a long query.
final class QueryGate: Sendable {
  private let looks = Atomic(0)
  private let seconds = Atomic(0)
  private let opened = DispatchSemaphore(value: 0)
  private let reached = DispatchSemaphore(value: 0)

  /// The first check starts the query's time; the second is the first while it runs.
  func deadline(_ limit: Duration = .seconds(2)) -> QueryDeadline {
    QueryDeadline(limit: limit) { [self] in
      if looks.add(1, ordering: .sequentiallyConsistent).newValue == 2 {
        reached.signal()
        opened.wait()
      }
      return .seconds(seconds.load(ordering: .sequentiallyConsistent))
    }
  }

  /// - Returns: false if no query has arrived within ten seconds.
  func isReached() async -> Bool {
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "gate").async { [reached] in
        continuation.resume(returning: reached.wait(timeout: .now() + 10) == .success)
      }
    }
  }

  func open() { opened.signal() }

  func advance(bySeconds count: Int) { seconds.add(count, ordering: .sequentiallyConsistent) }
}
