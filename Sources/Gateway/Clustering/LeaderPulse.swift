import Synchronization

/// Whether the leader answers at all, for all the requests that wait for it: they ask it once together.
final class LeaderPulse: Sendable {
  /// How long a leader may take to answer.
  static let answersWithin = Duration.seconds(1)
  /// How long it need not be asked after it was heard.
  private static let heardFor = Duration.seconds(1)

  private struct State {
    var leader: LeaderLink.Leader?
    /// On the monotonic clock.
    var heard: Duration?
    var asking: Task<Bool, Never>?
  }

  private let state = Mutex(State())

  /// Notes that a leader has answered.
  func noteHeard(_ leader: LeaderLink.Leader, at now: Duration) {
    state.withLock { state in
      if state.leader != leader { state = State(leader: leader) }
      state.heard = now
    }
  }

  /// Whether a leader was heard just now, or answers.
  ///
  /// - Parameter ask: asks it.
  func isHeard(
    _ leader: LeaderLink.Leader, at now: Duration, ask: @escaping @Sendable () async -> Bool
  ) async -> Bool {
    let asking: Task<Bool, Never>? = state.withLock { state in
      if state.leader != leader { state = State(leader: leader) }
      if let heard = state.heard, now - heard < Self.heardFor { return nil }
      if let asking = state.asking { return asking }
      let asking = Task {
        let isHeard = await ask()
        self.end(of: leader, isHeard: isHeard, at: now)
        return isHeard
      }
      state.asking = asking
      return asking
    }
    return await asking?.value ?? true
  }

  private func end(of leader: LeaderLink.Leader, isHeard: Bool, at now: Duration) {
    state.withLock { state in
      guard state.leader == leader else { return }
      state.asking = nil
      if isHeard { state.heard = now }
    }
  }
}
