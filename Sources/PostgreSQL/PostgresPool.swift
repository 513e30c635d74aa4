internal import Synchronization
package import Transport

/// A few sessions with threads of their own, for async callers.
package final class PostgresPool: Sendable {
  private struct State {
    /// Of use when they were returned; the last is lent first.
    var idle: [PostgresSession] = []
    var isClosed = false
  }

  private let address: PostgresAddress
  private let threads: BlockingPool
  private let waker = PostgresWaker()
  private let state = Mutex(State())

  /// The time of a call, with its wait for a thread and for a connection.
  package let deadline: Duration

  package init(_ address: PostgresAddress, sessionsMax: Int, deadline: Duration) {
    self.address = address
    self.deadline = deadline
    threads = BlockingPool(threadsMax: sessionsMax)
  }

  /// Lends a session to `body` on a thread of the pool.
  ///
  /// If the session's connection had ended while it was idle, `body` runs again with another: it must be safe to
  /// repeat from its beginning.
  package func run<Value: Sendable>(
    _ body: @escaping @Sendable (PostgresSession, LoopInstant) throws(PostgresError) -> Value
  ) async throws(PostgresError) -> Value {
    let end = LoopClock.now() + deadline
    return try await threads.run { [self] () throws(PostgresError) -> Value in
      try lend(until: end, body)
    }
  }

  /// Lends a session to `body` on a thread of the pool, as `run` does, and does not wait for it.
  package func submit(
    _ body: @escaping @Sendable (PostgresSession, LoopInstant) throws(PostgresError) -> Void,
    failed: @escaping @Sendable (PostgresError) -> Void
  ) {
    let end = LoopClock.now() + deadline
    threads.submit { [self] in
      do throws(PostgresError) { try lend(until: end, body) } catch { failed(error) }
    }
  }

  /// Ends all calls, and closes all sessions. Later calls throw ``PostgresError/unreachable(_:)``.
  package func close() {
    let idle = state.withLock { state in
      state.isClosed = true
      defer { state.idle = [] }
      return state.idle
    }
    waker.wake()
    for session in idle { session.close() }
  }

  private func lend<Value>(
    until end: LoopInstant, _ body: (PostgresSession, LoopInstant) throws(PostgresError) -> Value
  ) throws(PostgresError) -> Value {
    while let session = takeIdle() {
      do throws(PostgresError) { return try use(session, until: end, body) } catch {
        guard case .unreachable = error, !session.isOpen, LoopClock.now() < end else { throw error }
      }
    }
    guard LoopClock.now() < end else {
      throw .unreachable("no session was free within the deadline")
    }
    guard !state.withLock({ $0.isClosed }) else { throw .unreachable("the connections are closed") }
    let session = try PostgresSession(
      address, statementTimeMax: deadline, deadline: end, waker: waker)
    return try use(session, until: end, body)
  }

  private func use<Value>(
    _ session: PostgresSession, until end: LoopInstant,
    _ body: (PostgresSession, LoopInstant) throws(PostgresError) -> Value
  ) throws(PostgresError) -> Value {
    do throws(PostgresError) {
      let value = try body(session, end)
      giveBack(session)
      return value
    } catch {
      // A body can fail within a transaction block, and a server that cannot write is not the one to ask again.
      session.close()
      throw error
    }
  }

  private func takeIdle() -> PostgresSession? { state.withLock { $0.idle.popLast() } }

  private func giveBack(_ session: PostgresSession) {
    guard session.isOpen else { return }
    let isKept = state.withLock { state in
      if !state.isClosed { state.idle.append(session) }
      return !state.isClosed
    }
    if !isKept { session.close() }
  }
}
