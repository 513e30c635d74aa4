import LosslessJSON
import Synchronization

/// What phones handed over to the queue, and what they were told of it.
final class HandedOver: Sendable {
  struct Mutation: Sendable {
    let device: Int
    let key: String
    let body: String
    /// From the answer that took it; nil while there was none.
    var id: String?
  }

  private struct State {
    var mutations: [Mutation] = []
    var faults: [String] = []
  }

  private let state = Mutex(State())

  var faults: [String] { state.withLock { $0.faults } }
  var acknowledged: [Mutation] { state.withLock { $0.mutations.filter { $0.id != nil } } }
  var acknowledgedCount: Int { state.withLock { $0.mutations.count { $0.id != nil } } }

  /// - Returns: its number.
  func noteSent(_ mutation: Mutation) -> Int {
    state.withLock { state in
      state.mutations.append(mutation)
      return state.mutations.count - 1
    }
  }

  func noteTaken(_ number: Int, id: String) {
    state.withLock { $0.mutations[number].id = id }
  }

  func noteFault(_ fault: String) {
    state.withLock { $0.faults.append(fault) }
  }
}
