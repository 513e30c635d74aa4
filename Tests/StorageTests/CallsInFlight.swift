import Synchronization

/// Numbers concurrent calls and tracks those in flight.
final class CallsInFlight: Sendable {
  private struct State {
    var last: Int64 = 0
    var inFlight: Set<Int64> = []
  }

  private let state = Mutex(State())

  var last: Int64 { state.withLock { $0.last } }

  /// Returns the oldest call in flight; there must be one.
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

/// Generates every order of a few elements.
enum Permutations {
  static func all(of count: Int) -> [[Int]] {
    guard count > 0 else { return [[]] }
    return all(of: count - 1).flatMap { shorter in
      (0...shorter.count).map { place in
        var order = shorter
        order.insert(count - 1, at: place)
        return order
      }
    }
  }
}
