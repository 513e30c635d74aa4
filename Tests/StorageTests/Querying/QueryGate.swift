import Dispatch
import Model
import Storage
import Synchronization

/// A clock that holds the first query that looks at it while it runs, so that a test can see what
/// goes on beside a query that takes long.
final class QueryGate: Sendable {
  private let looks = Atomic(0)
  private let seconds = Atomic(0)
  private let opened = DispatchSemaphore(value: 0)
  private let reached = DispatchSemaphore(value: 0)

  /// The first look begins the query's time; the second is its first while it runs.
  func deadline(_ limit: Duration = .seconds(2)) -> QueryDeadline {
    QueryDeadline(limit: limit) { [self] in
      if looks.add(1, ordering: .sequentiallyConsistent).newValue == 2 {
        reached.signal()
        opened.wait()
      }
      return .seconds(seconds.load(ordering: .sequentiallyConsistent))
    }
  }

  /// - Returns: false where no query has come within ten seconds.
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
