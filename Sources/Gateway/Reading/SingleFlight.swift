import Synchronization

/// One run of a piece of work for all who ask for it at the same time.
///
/// The work runs detached from the caller who began it: that one may go away and the others still
/// get their outcome.
package final class SingleFlight<Key: Hashable & Sendable, Outcome: Sendable>: Sendable {
  private struct Flight {
    let number: UInt64
    let task: Task<Outcome, Never>
  }

  private struct State {
    var flights: [Key: Flight] = [:]
    var started: UInt64 = 0
  }

  private let state = Mutex(State())

  package init() {}

  /// How many pieces of work are under way.
  package var count: Int { state.withLock { $0.flights.count } }

  /// Joins the run for `key`, or begins one.
  ///
  /// - Returns: the task, and whether this caller began it.
  package func join(
    _ key: Key, work: @escaping @Sendable () async -> Outcome
  ) -> (task: Task<Outcome, Never>, isNew: Bool) {
    state.withLock { state in
      if let flight = state.flights[key] { return (flight.task, false) }
      state.started += 1
      let number = state.started
      let task = Task.detached { [self] in
        let outcome = await work()
        finish(key, number: number)
        return outcome
      }
      state.flights[key] = Flight(number: number, task: task)
      return (task, true)
    }
  }

  /// The next caller begins anew, while those who joined still get the old outcome.
  package func forget(_ key: Key) {
    state.withLock { _ = $0.flights.removeValue(forKey: key) }
  }

  private func finish(_ key: Key, number: UInt64) {
    state.withLock { state in
      if state.flights[key]?.number == number { state.flights[key] = nil }
    }
  }
}
