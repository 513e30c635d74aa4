import Synchronization
import Transport

/// Makes room by closing the connections that have been idle longest, whatever loops they are on.
///
/// Since when a connection is idle only its loop knows, and keeps no order of it: that would cost
/// every request something. So a round asks each loop for its oldest ones, and then has each close
/// those that are among the oldest of all. Whoever needs room while a round is under way waits for
/// that one.
final class IdleEviction: Sendable {
  /// What is asked of a loop. Both go there and come back.
  struct Loop: Sendable {
    /// Since when its idle connections are so: the oldest ones, in their order.
    let oldest: @Sendable (_ count: Int) async -> [LoopInstant]
    /// Closes up to `count` that have been idle since then or longer; returns how many it were.
    let close: @Sendable (_ since: LoopInstant, _ count: Int) async -> Int
  }

  /// Connections closed in a round: one at a time would be a search each.
  static let batch = 32

  private struct State {
    var loops: [Loop] = []
    var round: Task<Int, Never>?
  }

  private let state = Mutex(State())

  func join(_ loop: Loop) {
    state.withLock { $0.loops.append(loop) }
  }

  /// Forgets the loops, which this would keep alive.
  func end() {
    state.withLock { $0.loops = [] }
  }

  /// Goes round once. Returns how many connections were closed.
  func makeRoom() async -> Int {
    let round = state.withLock { state in
      if let round = state.round { return round }
      let loops = state.loops
      let round = Task { await self.goRound(loops) }
      state.round = round
      return round
    }
    return await round.value
  }

  private func goRound(_ loops: [Loop]) async -> Int {
    var oldest: [LoopInstant] = []
    for loop in loops { oldest += await loop.oldest(Self.batch) }
    let since = oldest.sorted().prefix(Self.batch).last
    var closed = 0
    if let since {
      for loop in loops { closed += await loop.close(since, Self.batch - closed) }
    }
    state.withLock { $0.round = nil }
    return closed
  }
}
