package import Model
internal import Synchronization
internal import Transport

/// Why a primary does not take a commit.
package enum CommitRefusal: Error, Hashable, Sendable {
  /// For now: the lease has ended without a renewal, or the store has not taken commits for as long.
  case unavailable(String)
  /// Another machine has taken the lease.
  case fenced
}

/// Takes the commits of a primary and sends them to the store a little later, and keeps its lease.
///
/// A commit never waits for the store. What the primary has acknowledged and the store does not have is lost with the
/// machine: at most the commits of one lease time, since none is taken once the lease has ended, or once the oldest
/// one has waited that long.
package final class LogSender: Sendable {
  package struct Settings: Sendable {
    /// How long commits are collected for a segment.
    package var interval = Duration.seconds(1)
    package var lease = Duration.seconds(15)
    /// A segment is sent at once when its payloads reach this size.
    package var segmentBytesMax = 4 << 20
    /// Payloads that wait in memory.
    package var waitingBytesMax = 128 << 20
    /// Pause after an error of the store.
    package var pause = Duration.milliseconds(250)

    package init() {}

    /// How often the lease is renewed in its time.
    static let renewals = 4
  }

  /// What the sender knows of itself.
  package struct Measures: Hashable, Sendable {
    package let epoch: Int64
    /// The last commit that the store has.
    package let sentPosition: Int64
    /// The age of the oldest commit that the store does not have; zero without any.
    package let unsentAge: Duration
    package let unsentBytes: Int
    /// Whether commits are taken.
    package let isTaking: Bool
  }

  private struct State {
    var queue: SegmentQueue
    var lease: VersionedLease
    /// A moment before the lease was last renewed.
    var kept: Duration
    var isFenced = false
    var isEnding = false
    /// The position up to which commits are to be sent without being collected.
    var urgent: Int64 = 0
    var lastError: StandbyError?
  }

  private struct Observer: Sendable {
    let call: @Sendable () -> Void
  }

  private let store: StandbyStore
  private let settings: Settings
  private let wall: WallClock
  private let uptime: @Sendable () -> Duration
  private let state: Mutex<State>
  private let signal: AsyncSignal
  private let whenFenced: Observer

  /// - Parameters:
  ///   - lease: which was just taken.
  ///   - kept: a moment before it was asked for.
  ///   - nextSegment: the number of the first segment to add.
  ///   - notBefore: the time of the last commit in the log.
  ///   - uptime: a monotonic clock that goes on while the process or the machine is stopped.
  ///   - whenFenced: called once, when another machine has taken the lease.
  package init(
    _ store: StandbyStore, lease: VersionedLease, kept: Duration, nextSegment: Int64,
    notBefore: Timestamp, settings: Settings, wall: WallClock,
    uptime: @escaping @Sendable () -> Duration,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    whenFenced: @escaping @Sendable () -> Void
  ) {
    self.store = store
    self.settings = settings
    self.wall = wall
    self.uptime = uptime
    self.whenFenced = Observer(call: whenFenced)
    signal = AsyncSignal(sleep: sleep)
    state = Mutex(
      State(
        queue: SegmentQueue(
          epoch: lease.lease.epoch, nextNumber: nextSegment, notBefore: notBefore), lease: lease,
        kept: kept))
  }

  package var lease: StandbyLease { state.withLock { $0.lease.lease } }

  package var measures: Measures {
    let now = uptime()
    return state.withLock { state in
      Measures(
        epoch: state.lease.lease.epoch, sentPosition: state.queue.sentPosition,
        unsentAge: state.queue.oldest.map { now - $0 } ?? .zero, unsentBytes: state.queue.bytes,
        isTaking: verdict(state, at: now) == nil)
    }
  }

  /// The number of the last segment that the store has.
  package var lastSegment: Int64 { state.withLock { $0.queue.nextNumber - 1 } }

  /// The present time, not before any commit.
  package var now: Timestamp {
    let now = wall.now()
    return state.withLock { max(now, $0.queue.lastAt) }
  }

  /// Whether another machine may write, as far as this one knows without the store.
  package var hasLeaseEnded: Bool {
    let now = uptime()
    return state.withLock { $0.isFenced || now - $0.kept > settings.lease }
  }

  // MARK: Commits

  /// Takes a commit. Does not block.
  ///
  /// - Parameter position: one more than that of the last one.
  package func append(_ payload: [UInt8], at position: Int64) throws(CommitRefusal) {
    let (now, time) = (uptime(), wall.now())
    let refusal = state.withLock { state -> CommitRefusal? in
      if let refusal = verdict(state, at: now) { return refusal }
      guard state.queue.add(payload, at: position, time: time, now: now) else { return .fenced }
      return nil
    }
    if let refusal { throw refusal }
    signal.notify()
  }

  private func verdict(_ state: State, at now: Duration) -> CommitRefusal? {
    if state.isFenced { return .fenced }
    if now - state.kept > settings.lease {
      return .unavailable(
        "the lease of the primary could not be renewed in time\(Self.cause(state.lastError))")
    }
    if let oldest = state.queue.oldest, now - oldest > settings.lease {
      return .unavailable(
        "commits have not been sent to the standby's store for too long\(Self.cause(state.lastError))"
      )
    }
    if state.queue.bytes > settings.waitingBytesMax {
      return .unavailable("too many commits wait for the standby's store")
    }
    return nil
  }

  private static func cause(_ error: StandbyError?) -> String { error.map { " (\($0))" } ?? "" }

  // MARK: Running

  /// Sends commits and renews the lease until the task is cancelled or the lease is lost.
  package func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.send() }
      group.addTask { await self.keep() }
      await group.waitForAll()
    }
  }

  /// Whether another machine has taken the lease.
  package var isFenced: Bool { state.withLock { $0.isFenced } }

  private func send() async {
    while !Task.isCancelled, !isFenced {
      let seen = signal.count
      let now = uptime()
      let rest = state.withLock { state -> Duration? in
        guard let oldest = state.queue.oldest else { return .seconds(3600) }
        if state.queue.bytes >= settings.segmentBytesMax || state.urgent > state.queue.sentPosition
        {
          return nil
        }
        let rest = settings.interval - (now - oldest)
        return rest > .zero ? rest : nil
      }
      if let rest {
        await signal.wait(after: seen, atMost: rest)
        continue
      }
      await sendNext()
    }
  }

  private func sendNext() async {
    guard let segment = state.withLock({ $0.queue.next(bytesMax: settings.segmentBytesMax) })
    else { return }
    do throws(StandbyError) {
      switch try await store.add(segment) {
      case .added:
        state.withLock { state in
          state.queue.noteSent(segment)
          state.lastError = nil
        }
        signal.notify()
      case .taken: fence()
      }
    } catch {
      await note(error)
    }
  }

  private func keep() async {
    while !Task.isCancelled, !isFenced {
      if state.withLock({ $0.isEnding }) { return }
      try? await Task.sleep(for: settings.lease / Settings.renewals)
      while !Task.isCancelled, !isFenced, await !renew() {}
    }
  }

  /// Renews the lease, if it is still this machine's.
  ///
  /// - Returns: false if the store did not respond.
  package func renew() async -> Bool {
    do throws(StandbyError) {
      try await renewOnce()
      return true
    } catch {
      await note(error)
      return false
    }
  }

  private func renewOnce() async throws(StandbyError) {
    let asked = uptime()
    let held = state.withLock { $0.lease }
    var next = held.lease
    next.renewal += 1
    next.renewed = wall.now()
    next.unsentAge = measures.unsentAge
    if let made = try await store.replace(next, after: held.version) {
      return note(made, kept: asked)
    }
    // An attempt whose response was lost can have changed it.
    guard let found = try await store.lease(), found.lease.isHeldLike(held.lease),
      !found.lease.isReleased
    else { return fence() }
    next.renewal = found.lease.renewal + 1
    guard let made = try await store.replace(next, after: found.version) else { return }
    note(made, kept: asked)
  }

  private func note(_ lease: VersionedLease, kept: Duration) {
    state.withLock { state in
      state.lease = lease
      state.kept = max(state.kept, kept)
      state.lastError = nil
    }
  }

  private func note(_ error: StandbyError) async {
    state.withLock { $0.lastError = error }
    try? await Task.sleep(for: settings.pause)
  }

  private func fence() {
    let isFirst = state.withLock { state in
      defer { state.isFenced = true }
      return !state.isFenced
    }
    guard isFirst else { return }
    signal.notify()
    whenFenced.call()
  }

  // MARK: Ending

  /// Sends all commits up to a position now.
  ///
  /// - Returns: whether the store has them; false after the time limit, or if the lease is lost.
  package func flush(upTo position: Int64, atMost limit: Duration) async -> Bool {
    let deadline = uptime() + limit
    state.withLock { $0.urgent = max($0.urgent, position) }
    signal.notify()
    while true {
      let seen = signal.count
      let (isSent, isFenced) = state.withLock {
        ($0.queue.sentPosition >= position || $0.queue.isEmpty, $0.isFenced)
      }
      if isSent { return true }
      let rest = deadline - uptime()
      guard !isFenced, rest > .zero, !Task.isCancelled else { return false }
      await signal.wait(after: seen, atMost: rest)
    }
  }

  /// The position of the last commit that was taken.
  package var lastPosition: Int64 { state.withLock { $0.queue.lastPosition } }

  /// Sends what is left and releases the lease, so that the other machine takes it at once. Nothing is written any
  /// more. ``run()`` must still run.
  ///
  /// - Returns: whether the store has all commits.
  package func end(atMost limit: Duration) async -> Bool {
    state.withLock { $0.isEnding = true }
    let isSent = await flush(upTo: lastPosition, atMost: limit)
    guard isSent, !isFenced else { return isSent }
    await release()
    return true
  }

  private func release() async {
    for _ in 0..<Settings.renewals {
      let held = state.withLock { $0.lease }
      var ended = held.lease
      ended.renewal += 1
      ended.isReleased = true
      do throws(StandbyError) {
        if try await store.replace(ended, after: held.version) != nil { return }
        guard let found = try await store.lease(), found.lease.isHeldLike(held.lease) else {
          return
        }
        state.withLock { $0.lease = found }
      } catch {
        await note(error)
      }
    }
  }
}
