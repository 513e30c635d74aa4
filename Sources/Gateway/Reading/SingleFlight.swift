import Synchronization

/// Coalesces requests: work for one key runs once for all callers who need it at the same time.
///
/// The work runs detached from the caller who began it: if that caller is cancelled, the others
/// still get the outcome.
package final class SingleFlight<Key: Hashable & Sendable, Outcome: Sendable>: Sendable {
  private struct Flight {
    let number: UInt64
    let task: Task<Outcome, Never>
  }

  private struct Lane {
    /// In progress, the newest last.
    var running: [Flight] = []
    /// Begins when one of the running ones ends.
    var next: Flight?

    var count: Int { running.count + (next == nil ? 0 : 1) }
  }

  private struct State {
    var lanes: [Key: Lane] = [:]
    var started: UInt64 = 0
  }

  /// The maximum number of concurrent runs for one key when callers require a run that has not
  /// begun yet.
  private static var runningMax: Int { 2 }

  private let state = Mutex(State())

  package init() {}

  /// The number of runs in progress or waiting for one to end.
  package var count: Int { state.withLock { $0.lanes.values.reduce(0) { $0 + $1.count } } }

  /// The newest run for `key`; nil for none.
  func running(_ key: Key) -> Task<Outcome, Never>? {
    state.withLock { $0.lanes[key]?.running.last?.task }
  }

  /// Joins the newest run for `key`, or begins a new one.
  ///
  /// - Returns: the task, and whether this caller began it.
  package func join(
    _ key: Key, work: @escaping @Sendable () async -> Outcome
  ) -> (task: Task<Outcome, Never>, isNew: Bool) {
    state.withLock { state in
      if let flight = state.lanes[key]?.running.last { return (flight.task, false) }
      return (begin(key, work, in: &state), true)
    }
  }

  /// Begins a run for `key`, or joins one that has not begun; never joins one in progress.
  ///
  /// At most two runs are in progress. Later callers share one that begins when either ends, so a
  /// crowd costs no more than that, and no caller waits longer than one run before its own.
  ///
  /// - Returns: the task, and whether this caller began it.
  func joinUnbegun(
    _ key: Key, work: @escaping @Sendable () async -> Outcome
  ) -> (task: Task<Outcome, Never>, isNew: Bool) {
    state.withLock { state in
      guard let lane = state.lanes[key], lane.running.count >= Self.runningMax,
        let first = lane.running.first
      else { return (begin(key, work, in: &state), true) }
      if let next = lane.next { return (next.task, false) }
      state.started += 1
      let number = state.started
      let task = Task.detached { [self] in
        _ = await first.task.value
        promote(key, number: number)
        let outcome = await work()
        finish(key, number: number)
        return outcome
      }
      state.lanes[key]?.next = Flight(number: number, task: task)
      return (task, true)
    }
  }

  /// Forgets the runs for `key`: the next caller begins a new one, while those who joined still get
  /// the old outcome.
  package func forget(_ key: Key) {
    state.withLock { _ = $0.lanes.removeValue(forKey: key) }
  }

  private func begin(
    _ key: Key, _ work: @escaping @Sendable () async -> Outcome, in state: inout State
  ) -> Task<Outcome, Never> {
    state.started += 1
    let number = state.started
    let task = Task.detached { [self] in
      let outcome = await work()
      finish(key, number: number)
      return outcome
    }
    state.lanes[key, default: Lane()].running.append(Flight(number: number, task: task))
    return task
  }

  /// Moves the waiting run to the running ones, so that ``joinUnbegun(_:work:)`` no longer joins it.
  private func promote(_ key: Key, number: UInt64) {
    state.withLock { state in
      guard let next = state.lanes[key]?.next, next.number == number else { return }
      state.lanes[key]?.next = nil
      state.lanes[key]?.running.append(next)
    }
  }

  private func finish(_ key: Key, number: UInt64) {
    state.withLock { state in
      state.lanes[key]?.running.removeAll { $0.number == number }
      if state.lanes[key]?.count == 0 { state.lanes[key] = nil }
    }
  }
}
