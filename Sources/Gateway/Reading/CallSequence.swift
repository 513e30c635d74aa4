package import Model
import Synchronization

/// Hands out ``CallNumber``s and knows which calls are still in flight.
///
/// The numbers continue from the highest one the store has seen, so a restart never gives a number
/// twice and no clock is asked. What is in flight lives in memory alone: a call does not survive
/// its process.
package final class CallSequence: Sendable {
  private struct State {
    var last: Int64
    var inFlight: Set<Int64> = []
  }

  private let state: Mutex<State>

  /// - Parameter last: the highest number found in the store.
  package init(after last: CallNumber) {
    state = Mutex(State(last: last.value))
  }

  /// A query starts; or a mutation, a purge or an invalidation settles, with a number higher than
  /// that of everything begun before. Every begun call must be ended once it is in the store,
  /// whatever becomes of it: until then no horizon passes it.
  package func begin() -> CallNumber {
    state.withLock { state in
      state.last += 1
      state.inFlight.insert(state.last)
      return CallNumber(state.last)
    }
  }

  package func end(_ call: CallNumber) {
    state.withLock { _ = $0.inFlight.remove(call.value) }
  }

  /// The oldest call in flight, or `call` itself where nothing older is.
  package func horizon(of call: CallNumber) -> CallNumber {
    state.withLock { state in
      CallNumber(state.inFlight.min().map { min($0, call.value) } ?? call.value)
    }
  }
}
