import Synchronization

/// One who waits for commits: woken, never handed anything.
///
/// A wake that comes while nobody waits is kept for the next wait, so whoever registers, then
/// reads, then waits misses nothing.
package final class ChangeListener: Sendable {
  private struct State {
    var wakes: WakeReasons = []
    var waiter: CheckedContinuation<Void, Never>?
    var hasEnded = false
  }

  private let state = Mutex(State())
  let hearsBeats: Bool

  /// Nothing more comes. To be asked between reads that follow each other without a wait.
  package var hasEnded: Bool { state.withLock { $0.hasEnded } }

  init(hearsBeats: Bool) {
    self.hearsBeats = hearsBeats
  }

  /// Waits for the next wake, or takes those that have gathered. One task at a time.
  package func next() async -> WakeReasons {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isAwake = state.withLock { state in
          if state.wakes.isEmpty && !state.hasEnded {
            state.waiter = continuation
            return false
          }
          return true
        }
        if isAwake { continuation.resume() }
      }
      return state.withLock { state in
        defer { state.wakes = [] }
        return state.hasEnded ? state.wakes.union(.end) : state.wakes
      }
    } onCancel: {
      wake(.end)
    }
  }

  /// Listeners woken on the caller's own thread; more are woken beside it, so that no commit waits
  /// for them.
  private static let wokenAtOnceMax = 8

  static func wake(_ listeners: [ChangeListener], _ wakes: WakeReasons) {
    guard listeners.count > wokenAtOnceMax else {
      for listener in listeners { listener.wake(wakes) }
      return
    }
    Task.detached { for listener in listeners { listener.wake(wakes) } }
  }

  func wake(_ wakes: WakeReasons) {
    let waiter = state.withLock { state in
      state.wakes.formUnion(wakes)
      if wakes.contains(.end) { state.hasEnded = true }
      return state.waiter.take()
    }
    waiter?.resume()
  }
}
