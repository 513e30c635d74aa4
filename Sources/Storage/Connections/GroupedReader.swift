import GRDB
import Synchronization

/// A read-only connection that serves all waiting reads in one snapshot.
///
/// Reaching a connection costs several thread hops, far more than a look-up; under load the hops
/// are shared. The batch is taken before the snapshot begins, so every read sees what was committed
/// before it was asked for.
final class GroupedReader: Sendable {
  private typealias Waiter = @Sendable (Result<Database, any Error>) -> Void

  private struct State {
    var waiting: [Waiter] = []
    var isClosed = false
  }

  private let queue: DatabaseQueue
  private let state = Mutex(State())

  init(queue: DatabaseQueue) {
    self.queue = queue
  }

  func read<Answer: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Answer
  ) async throws(StorageError) -> Answer {
    let result = await withCheckedContinuation { continuation in
      submit { database in
        do {
          continuation.resume(
            returning: Result<Answer, StorageError>.success(try body(try database.get())))
        } catch {
          continuation.resume(returning: .failure(StorageError(error)))
        }
      }
    }
    return try result.get()
  }

  private func submit(_ waiter: @escaping Waiter) {
    let (isFirst, isClosed) = state.withLock { state in
      if state.isClosed { return (false, true) }
      state.waiting.append(waiter)
      return (state.waiting.count == 1, false)
    }
    if isClosed { return waiter(.failure(StorageError.closed)) }
    guard isFirst else { return }
    queue.asyncRead { [self] database in
      for waiter in takeAll() { waiter(database) }
    }
  }

  private func takeAll() -> [Waiter] {
    state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  /// Later reads fail; those already waiting are served first.
  func close() {
    state.withLock { $0.isClosed = true }
    try? queue.close()
  }
}
