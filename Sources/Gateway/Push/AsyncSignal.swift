import Synchronization

/// WakeReasons loops that wait for work. A ring that comes while nobody waits is not lost: whoever waits
/// says which ring it has heard.
final class AsyncSignal: Sendable {
  private struct State {
    var rings: UInt64 = 0
    var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var nextWaiter: UInt64 = 0
  }

  private let state = Mutex(State())
  private let sleep: @Sendable (Duration) async throws -> Void

  /// - Parameter sleep: returns after the duration, or throws where its task is cancelled.
  init(sleep: @escaping @Sendable (Duration) async throws -> Void) {
    self.sleep = sleep
  }

  /// To be taken before looking for work.
  var rings: UInt64 { state.withLock { $0.rings } }

  func ring() {
    let waiters = state.withLock { state in
      state.rings += 1
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Returns at the next ring after the one that was heard, when the time is over, or when the
  /// caller's task is cancelled.
  func wait(past heard: UInt64, atMost limit: Duration? = nil) async {
    let name = state.withLock { state in
      defer { state.nextWaiter += 1 }
      return state.nextWaiter
    }
    let alarm = Mutex<Task<Void, Never>?>(nil)
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = state.withLock { state in
          guard state.rings == heard, !Task.isCancelled else { return false }
          state.waiters[name] = continuation
          return true
        }
        guard waits else { return continuation.resume() }
        guard let limit else { return }
        // Begun after the waiter is known, so that it finds somebody to wake.
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
