import Dispatch
import Synchronization

/// A pool of a few threads for blocking calls.
///
/// Dispatch has as many shared workers as cores, and a blocked one delays every other user by up to a
/// second, so blocking work never goes there: each worker here is a serial queue, which brings its own
/// thread while it has work.
package final class BlockingPool: Sendable {
  private struct State {
    /// In order of arrival from `first` on; callers limit what they submit.
    var waiting: [(@Sendable () -> Void)?] = []
    var first = 0
    var workers = 0
  }

  package let threadsMax: Int
  private let state = Mutex(State())

  package init(threadsMax: Int) {
    precondition(threadsMax > 0, "a pool needs a thread")
    self.threadsMax = threadsMax
  }

  /// Runs `body` on a thread of the pool, in order of arrival as threads become free.
  package func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      submit { continuation.resume(returning: body()) }
    }
  }

  /// Runs `body` on a thread of the pool and rethrows its error.
  package func run<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result: Result<Value, Failure> = await run { () -> Result<Value, Failure> in
      do throws(Failure) { return .success(try body()) } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// Runs `work` on a thread of the pool and does not wait for it.
  package func submit(_ work: @escaping @Sendable () -> Void) {
    let worker: Int? = state.withLock { state in
      state.waiting.append(work)
      guard state.workers < threadsMax else { return nil }
      state.workers += 1
      return state.workers
    }
    guard let worker else { return }
    DispatchQueue(label: "larder.blocking.\(worker)").async { [self] in runUntilIdle() }
  }

  private func runUntilIdle() {
    while let work = takeNext() { work() }
  }

  private func takeNext() -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard state.first < state.waiting.count else {
        state.waiting.removeAll()
        state.first = 0
        state.workers -= 1
        return nil
      }
      let work = state.waiting[state.first].take()
      state.first += 1
      // Keeps the array of a pool that is never idle as short as its queue.
      if state.first > 64, state.first * 2 > state.waiting.count {
        state.waiting.removeFirst(state.first)
        state.first = 0
      }
      return work
    }
  }
}
