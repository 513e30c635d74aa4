import Synchronization

/// A counted signal for which any number of tasks can wait.
///
/// A wait names the number of signals that its task has seen, and ends as soon as there are more. So no
/// wake-up is lost: read ``count``, then look for work, then wait after that count.
///
/// ```swift
/// while !Task.isCancelled {
///   let seen = signal.count
///   if let work = takeWork() { await perform(work); continue }
///   await signal.wait(after: seen)
/// }
/// ```
///
/// For an event that occurs once, wait without a count: `wait()` ends with the first signal, and returns
/// at once after it.
///
/// A signal wakes all its waiters, and says nothing about the reason: state that belongs to it is the
/// user's, changed before ``notify()``. A wait can also end without a signal (its time limit, a cancelled
/// task), so what a task needs to know it reads from that state.
package final class AsyncSignal: Sendable {
  private struct State {
    var count: UInt64 = 0
    var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var nextWaiter: UInt64 = 0
  }

  private let state = Mutex(State())
  private let sleep: @Sendable (Duration) async throws -> Void

  /// - Parameter sleep: for time limits; returns after the duration, or throws if its task is cancelled.
  package init(
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.sleep = sleep
  }

  /// The number of signals so far.
  package var count: UInt64 { state.withLock { $0.count } }

  /// The number of waiting tasks.
  package var waiterCount: Int { state.withLock { $0.waiters.count } }

  /// Ends all waits. Can be called on any thread, and with a lock held: it runs no waiter itself.
  package func notify() {
    let waiters = state.withLock { state in
      state.count += 1
      defer { state.waiters = [:] }
      return state.waiters
    }
    for waiter in waiters.values { waiter.resume() }
  }

  /// Waits until there are more signals than the task has seen, until the time limit, or until the task
  /// is cancelled.
  ///
  /// - Parameter ignoresCancellation: whether a cancelled task waits like any other, for the end of work
  ///   that must not be left unfinished.
  package func wait(
    after seen: UInt64 = 0, atMost limit: Duration? = nil, ignoresCancellation: Bool = false
  ) async {
    let number = state.withLock { state in
      defer { state.nextWaiter += 1 }
      return state.nextWaiter
    }
    let alarm = Mutex<Task<Void, Never>?>(nil)
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = state.withLock { state in
          // A task that is cancelled from here on finds its waiter: the handler takes the same lock.
          guard state.count == seen, ignoresCancellation || !Task.isCancelled else { return false }
          state.waiters[number] = continuation
          return true
        }
        guard waits else { return continuation.resume() }
        guard let limit else { return }
        // Started after the waiter is registered, so that the alarm finds it.
        alarm.withLock { $0 = Task.detached { await self.release(number, after: limit) } }
      }
    } onCancel: {
      if !ignoresCancellation { release(number) }
    }
    alarm.withLock { $0?.cancel() }
  }

  private func release(_ number: UInt64, after limit: Duration) async {
    do { try await sleep(limit) } catch { return }
    release(number)
  }

  /// Ends a wait that has not ended yet.
  private func release(_ number: UInt64) {
    state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
  }
}
