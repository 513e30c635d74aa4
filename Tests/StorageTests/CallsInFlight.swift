import Synchronization

/// Numbers calls made at the same time and knows which of them are still to arrive.
final class CallsInFlight: Sendable {
  private struct State {
    var last: Int64 = 0
    var inFlight: Set<Int64> = []
  }

  private let state = Mutex(State())

  var last: Int64 { state.withLock { $0.last } }

  /// The oldest call in flight; there must be one.
  var horizon: Int64 { state.withLock { $0.inFlight.min() ?? $0.last } }

  func begin() -> Int64 {
    state.withLock { state in
      state.last += 1
      state.inFlight.insert(state.last)
      return state.last
    }
  }

  func end(_ call: Int64) {
    state.withLock { _ = $0.inFlight.remove(call) }
  }
}
