import Synchronization
import Transport

/// Closes the connections that have been idle longest, over all loops.
///
/// Only a connection's loop knows since when it is idle, and loops keep no order of idle connections:
/// that would cost every request something. So a round asks each loop for its oldest idle connections,
/// and then tells each loop to close those that are among the oldest of all. Callers that need room
/// while a round is in progress wait for that round.
final class IdleEviction: Sendable {
  /// The requests to one loop. Both run on the loop.
  struct Loop: Sendable {
    /// Returns the start of idleness of the loop's oldest idle connections, in order.
    let oldest: @Sendable (_ count: Int) async -> [LoopInstant]
    /// Closes up to `count` connections that have been idle since then or longer; returns their number.
    let close: @Sendable (_ since: LoopInstant, _ count: Int) async -> Int
  }

  /// Connections closed in a round, so that not each one needs a search.
  static let batch = 32

  private struct State {
    var loops: [Loop] = []
    var round: Task<Int, Never>?
  }

  private let state = Mutex(State())

  func join(_ loop: Loop) {
    state.withLock { $0.loops.append(loop) }
  }

  /// Releases the loops, which this would keep alive.
  func end() {
    state.withLock { $0.loops = [] }
  }

  /// Runs one round, or joins the one in progress. Returns the number of closed connections.
  func makeRoom() async -> Int {
    let round = state.withLock { state in
      if let round = state.round { return round }
      let loops = state.loops
      let round = Task { await self.runRound(loops) }
      state.round = round
      return round
    }
    return await round.value
  }

  private func runRound(_ loops: [Loop]) async -> Int {
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
