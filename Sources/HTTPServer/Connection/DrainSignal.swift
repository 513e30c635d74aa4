import Synchronization

/// Tells every loop that the server is to end: once, for good.
final class DrainSignal: Sendable {
  private struct State {
    var isGiven = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  var isGiven: Bool { state.withLock { $0.isGiven } }

  func give() {
    let waiters = state.withLock { state in
      defer { state.waiters = [] }
      state.isGiven = true
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isGiven = state.withLock { state in
        if !state.isGiven { state.waiters.append(continuation) }
        return state.isGiven
      }
      if isGiven { continuation.resume() }
    }
  }
}
