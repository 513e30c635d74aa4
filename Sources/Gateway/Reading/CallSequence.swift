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

  /// A query starts. Every begun call must be ended, whatever becomes of it.
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

  /// A mutation, a purge or an invalidation settles: its number is higher than that of everything
  /// begun before.
  package func settle() -> CallNumber {
    state.withLock { state in
      state.last += 1
      return CallNumber(state.last)
    }
  }

  /// The oldest call in flight, or `call` itself where nothing older is.
  package func horizon(of call: CallNumber) -> CallNumber {
    state.withLock { state in
      CallNumber(state.inFlight.min().map { min($0, call.value) } ?? call.value)
    }
  }
}
