import Synchronization

/// Wakes loops that wait for work. A signal sent while no loop waits is not lost: waiters pass the
/// last generation they have seen.
final class AsyncSignal: Sendable {
  private struct State {
    var generation: UInt64 = 0
    var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var nextWaiter: UInt64 = 0
  }

  private let state = Mutex(State())
  private let sleep: @Sendable (Duration) async throws -> Void

  /// - Parameter sleep: returns after the duration, or throws if its task is cancelled.
  init(sleep: @escaping @Sendable (Duration) async throws -> Void) {
    self.sleep = sleep
  }

  /// The number of signals so far; read it before looking for work.
  var generation: UInt64 { state.withLock { $0.generation } }

  func notify() {
    let waiters = state.withLock { state in
      state.generation += 1
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Waits until a signal after the seen generation, until the time limit, or until the caller's
  /// task is cancelled.
  func wait(after seen: UInt64, atMost limit: Duration? = nil) async {
    let name = state.withLock { state in
      defer { state.nextWaiter += 1 }
      return state.nextWaiter
    }
    let alarm = Mutex<Task<Void, Never>?>(nil)
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = state.withLock { state in
          guard state.generation == seen, !Task.isCancelled else { return false }
          state.waiters[name] = continuation
          return true
        }
        guard waits else { return continuation.resume() }
        guard let limit else { return }
        // Started after the waiter is registered, so that the alarm finds it.
        alarm.withLock { $0 = Task.detached { await self.release(name, after: limit) } }
      }
    } onCancel: {
      release(name)
    }
    alarm.withLock { $0?.cancel() }
  }

  private func release(_ name: UInt64, after limit: Duration) async {
    do { try await sleep(limit) } catch { return }
    release(name)
  }

  private func release(_ name: UInt64) {
    state.withLock { $0.waiters.removeValue(forKey: name) }?.resume()
  }
}
