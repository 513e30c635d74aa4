package import HTTPClient
import Model
import Synchronization
import Transport

/// What a replica knows of the leader and of its own place in the log.
///
/// The node's own loop reports; reads and the forwarder ask. All of it is from the past: the leader can be
/// another one by the time that it is called, which its answer then says.
package final class LeaderLink: Sendable {
  /// The node that holds the lease.
  package struct Leader: Hashable, Sendable {
    /// The id of the node.
    package let node: String
    /// The address at which other nodes reach it.
    package let url: HTTPURL
    /// Increases with each change of the leader.
    package let epoch: Int64

    package init(node: String, url: HTTPURL, epoch: Int64) {
      self.node = node
      self.url = url
      self.epoch = epoch
    }
  }

  /// How long the leader is not called after it could not be reached: other requests meanwhile get what
  /// this node has.
  static let restAfterFailure = Duration.seconds(1)
  /// How long a node that turned out not to be the leader is not called: one that has just taken the lease
  /// opens its store first.
  static let misdirectedFor = Duration.milliseconds(100)
  /// How long requests wait for the next leader once it is known that the lease passes from one node to another.
  static let handoverMax = Duration.seconds(2)
  /// How soon after one handover the next one can begin.
  private static let handoverPause = Duration.seconds(10)
  /// How long a node that has applied the whole log can be sure of it, without looking again. A process that was
  /// stopped knows by that, once it goes on, that it may have missed something.
  static let wholeFor = Duration.seconds(1)
  /// How often a leader that rests is looked at.
  private static let lookInterval = Duration.milliseconds(20)

  private struct State {
    var leader: Leader?
    /// On the monotonic clock; nil for a leader that can be called.
    var restsUntil: Duration?
    var position: Int64 = 0
    var isCutOff = false
    /// Until when the node is sure to have nearly all of the log, on the monotonic clock; nil before it was noted.
    var wholeUntil: Duration?
    /// When it was last sure of that, or began to look.
    var lastWhole: Duration?
    /// The last position of a write that was passed on and answered before this node had applied it.
    var owed: Int64 = 0
    var hasLooked = false
    /// When the lease began to pass from one node to another, on the monotonic clock.
    var handoverBegan: Duration?
    /// Requests that wait for the next leader.
    var waiting = 0
  }

  private let state = Mutex(State())
  private let changed: AsyncSignal
  private let uptime: @Sendable () -> Duration
  private let sleep: @Sendable (Duration) async throws -> Void

  /// - Parameters:
  ///   - uptime: a monotonic clock.
  ///   - sleep: returns after the duration, or throws if its task is cancelled.
  package init(
    uptime: @escaping @Sendable () -> Duration,
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.uptime = uptime
    self.sleep = sleep
    changed = AsyncSignal(sleep: sleep)
  }

  // MARK: Reports of the node

  /// Notes the leader; nil while there is none.
  package func note(leader: Leader?) {
    change { state in
      state.hasLooked = true
      guard state.leader != leader else { return }
      state.leader = leader
      state.restsUntil = nil
    }
  }

  /// Notes the position that this node has applied, after everything that depends on it was notified.
  package func note(position: Int64) {
    change { $0.position = max($0.position, position) }
  }

  /// Notes the position of a database that was opened: a snapshot can have replaced one that was further.
  package func note(openedAt position: Int64) { change { $0.position = position } }

  /// Notes whether this node learns nothing of new positions, because it cannot reach PostgreSQL; false once it has
  /// applied all that the log has, again and again.
  package func note(isCutOff: Bool) {
    let now = uptime()
    change { state in
      state.isCutOff = isCutOff
      if !isCutOff {
        state.wholeUntil = now + Self.wholeFor
        state.lastWhole = now
      }
      if isCutOff {
        state.hasLooked = true
        state.lastWhole = state.lastWhole ?? now
      }
    }
  }

  /// Notes that this node does not know yet what it has missed.
  package func noteOpening() {
    let now = uptime()
    change { state in
      state.wholeUntil = state.wholeUntil ?? now - .nanoseconds(1)
      state.lastWhole = state.lastWhole ?? now
    }
  }

  /// Forgets the leader until the node has looked for it, because it is another one now.
  package func forgetLeader() {
    change { state in
      state.leader = nil
      state.restsUntil = nil
      state.hasLooked = false
    }
  }

  /// Notes that the lease passes from one node to another, which takes a moment.
  package func noteHandover() {
    let now = uptime()
    change { state in
      if let began = state.handoverBegan, now - began < Self.handoverPause { return }
      state.handoverBegan = now
    }
  }

  /// Lets no request wait for the next leader any more.
  package func endHandover() { change { $0.handoverBegan = nil } }

  // MARK: Reports of the forwarder

  /// Notes that a leader did not accept a connection or did not answer.
  func noteUnreachable(_ leader: Leader) {
    rest(leader, for: Self.restAfterFailure)
  }

  /// Notes that a node is not the leader.
  func noteMisdirected(_ leader: Leader) {
    rest(leader, for: Self.misdirectedFor)
    noteHandover()
  }

  func noteReached(_ leader: Leader) {
    state.withLock { state in
      guard state.leader == leader else { return }
      state.restsUntil = nil
      state.handoverBegan = nil
    }
  }

  /// Notes that a write was answered whose position this node has not applied.
  func note(owed position: Int64) {
    change { $0.owed = max($0.owed, position) }
  }

  private func rest(_ leader: Leader, for time: Duration) {
    let end = uptime() + time
    change { if $0.leader == leader { $0.restsUntil = end } }
  }

  // MARK: State

  /// The time on the link's monotonic clock.
  var now: Duration { uptime() }

  /// The leader, whether or not it can be reached; nil while there is none.
  package var leader: Leader? { state.withLock { $0.leader } }

  /// Whether this node knows the leader, or has looked for it and found none, or cannot look.
  package var hasLooked: Bool { state.withLock { $0.hasLooked } }

  /// The leader, unless it could not be reached just now.
  package var reachable: Leader? {
    let now = uptime()
    return state.withLock { state in
      if let end = state.restsUntil, now < end { return nil }
      return state.leader
    }
  }

  /// Whether the lease passes from one node to another, so that there is a leader in a moment.
  package var isHandover: Bool {
    let now = uptime()
    return state.withLock { state in
      state.handoverBegan.map { now - $0 < Self.handoverMax } ?? false
    }
  }

  /// Whether a leader can be called now or in a moment.
  package var isAnswered: Bool { reachable != nil || isHandover }

  /// The position that this node has applied.
  package var position: Int64 { state.withLock { $0.position } }

  /// Whether this node learns nothing of new positions, because it cannot reach PostgreSQL, or was kept from it.
  package var isCutOff: Bool {
    let now = uptime()
    return state.withLock { $0.isCutOff || $0.wholeUntil.map { $0 < now } ?? false }
  }

  /// How long this node has learned nothing of new positions; nil if it is not cut off.
  package var cutOffFor: Duration? {
    guard isCutOff else { return nil }
    let now = uptime()
    return state.withLock { state in state.lastWhole.map { max(.zero, now - $0) } ?? .zero }
  }

  /// Whether this node has not applied what it has passed on and answered, so that a client may miss its own
  /// write in this node's store.
  package var owesWrites: Bool { state.withLock { $0.position < $0.owed } }

  // MARK: Waiting

  /// Waits until this node has applied a position.
  ///
  /// - Returns: whether it has, within the time limit.
  package func waitUntilApplied(_ position: Int64, atMost limit: Duration) async -> Bool {
    await wait(atMost: limit) { self.position >= position }
  }

  /// Waits until this node has looked for the leader.
  package func waitForLook(atMost limit: Duration) async {
    if !hasLooked { _ = await wait(atMost: limit) { self.hasLooked } }
  }

  /// Waits for another leader than one that is known not to answer.
  func waitForLeader(otherThan former: Leader, atMost limit: Duration) async -> Leader? {
    _ = await wait(atMost: limit) { self.reachable.map { $0 != former } ?? false }
    return reachable.flatMap { $0 == former ? nil : $0 }
  }

  /// Returns the leader that can be called, for which it waits while the lease passes from one node to another.
  func nextReachable() async -> Leader? {
    if let leader = reachable { return leader }
    state.withLock { $0.waiting += 1 }
    defer { state.withLock { $0.waiting -= 1 } }
    while true {
      if let leader = reachable { return leader }
      guard isHandover, !Task.isCancelled else { return nil }
      let seen = changed.count
      if reachable == nil { await changed.wait(after: seen, atMost: Self.lookInterval) }
    }
  }

  /// The number of requests that wait for the next leader. They need nothing else of this node.
  package var waitingCount: Int { state.withLock { $0.waiting } }

  /// Waits for a time, or until the task is cancelled.
  func pause(for time: Duration) async { try? await sleep(time) }

  /// Waits until another node is the leader, or none, for as long as the task is not cancelled.
  func waitForEnd(of leader: Leader) async {
    _ = await wait(atMost: nil) { self.leader != leader }
  }

  /// Waits for a condition that can become true whenever the node reports something.
  package func wait(
    atMost limit: Duration?, until holds: @Sendable () -> Bool
  ) async -> Bool {
    let start = uptime()
    while !Task.isCancelled {
      let seen = changed.count
      if holds() { return true }
      let left = limit.map { $0 - (uptime() - start) }
      if let left, left <= .zero { return false }
      await changed.wait(after: seen, atMost: left)
    }
    return holds()
  }

  private func change(_ body: (inout sending State) -> Void) {
    state.withLock { body(&$0) }
    changed.notify()
  }
}
