package import Logging
import Metrics
package import Model
package import Storage
import Synchronization
import Transport
package import Upstream

/// The subscriptions that are open upstream, one for each operation, variables and scope, and the clients
/// that share them.
package final class SubscriptionHub: Sendable {
  /// What a shared subscription works with.
  struct Environment: Sendable {
    let opening: any SubscriptionOpening
    let writer: SubscriptionWriter
    let failures: FailureMemory
    let uptime: @Sendable () -> Duration
    let sleep: @Sendable (Duration) async throws -> Void
    let logger: Logger
  }

  /// How long a subscription stays open after its last client has left.
  static let linger = Duration.seconds(5)
  /// The maximum number of subscriptions open upstream.
  static let subscriptionsMax = 20_000
  /// The maximum number of subscriptions that one user or device, or the unknown callers of one network,
  /// have opened: different variables each open one. One that lingers counts for the owner that opened
  /// it, so an owner cannot close a scope to others that share it.
  static let subscriptionsOfOwnerMax = 2_000
  /// The maximum number of subscriptions opened by unknown callers, and of those with headers that are
  /// not verified: a stranger can make up any number of them, from several networks.
  static let unknownMax = subscriptionsMax / 2

  /// An open subscription with what it counts for.
  private struct Open {
    let shared: SharedSubscription
    /// Whose client opened it; nil if the service did.
    let owner: CallerOwner?
    let isUnknown: Bool
  }

  private struct State {
    var open: [ResultKey: Open] = [:]
    var counts: [CallerOwner: Int] = [:]
    /// The number of those that unknown callers opened.
    var unknown = 0
    /// Those that run, closed ones included until their last event is stored.
    var running: [ObjectIdentifier: SharedSubscription] = [:]
    var clients = 0
    var hasEnded = false
  }

  private let variables: TemporaryVariables
  private let devices: DeviceRegistry
  private let signal: CommitSignal
  private let environment: Environment
  /// On a replica, which opens no subscription; nil on other nodes.
  private let leader: LeaderLink?
  private let state = Mutex(State())
  private let finished = AsyncSignal()
  private let clientGauge = Gauge(label: "larder.subscription.clients")
  private let openGauge = Gauge(label: "larder.upstream.subscriptions")

  /// - Parameters:
  ///   - uptime: a monotonic clock.
  ///   - sleep: returns after the duration, or throws if its task is cancelled.
  package init(
    variables: TemporaryVariables, opening: any SubscriptionOpening, store: Store,
    calls: CallSequence, epoch: MutationEpoch, failures: FailureMemory, devices: DeviceRegistry,
    signal: CommitSignal, clock: WallClock, uptime: @escaping @Sendable () -> Duration,
    sleep: @escaping @Sendable (Duration) async throws -> Void, leader: LeaderLink? = nil,
    logger: Logger
  ) {
    self.leader = leader
    self.variables = variables
    self.devices = devices
    self.signal = signal
    environment = Environment(
      opening: opening,
      writer: SubscriptionWriter(
        store: store, calls: calls, epoch: epoch, clock: clock, logger: logger),
      failures: failures, uptime: uptime, sleep: sleep, logger: logger)
  }

  // MARK: Clients

  /// Checks a client's request for a subscription, so that a failure is reported as an HTTP response.
  package func start(
    _ operation: ServedOperation, input: VariableInput, context: OperationService.Context
  ) async throws(Failure) -> SubscriptionStream.Start {
    guard operation.kind == .subscription else {
      throw Failure(.malformedRequest, "\(operation.name) is not a subscription.")
    }
    if let leader { throw leader.need() }
    if signal.hasEnded { throw Self.draining }
    let request = try await variables.request(operation, input: input, context: context)
      .seenByUpstream()
    try AccessGate.admit(context.caller, to: request.operation)
    if environment.opening.isOff(for: request.operation) { throw Self.switchedOff }
    if let failure = environment.failures.recentFailure(for: request.key) { throw failure }
    if let failure = state.withLock({ Self.refusal(of: request, in: $0) }) { throw failure }
    return SubscriptionStream.Start(request: request)
  }

  /// Opens a stream. Must be called by the task that reads it.
  package func open(_ start: SubscriptionStream.Start) -> SubscriptionStream {
    SubscriptionStream(hub: self, devices: devices, signal: signal, start: start)
  }

  /// Takes a client into the subscription that it asks for; nil if the mailbox has got the reason why
  /// not.
  func join(_ request: ReadRequest, _ mailbox: SubscriptionMailbox) -> SharedSubscription? {
    let outcome = state.withLock { state -> Result<SharedSubscription, Failure> in
      state.clients += 1
      clientGauge.record(state.clients)
      return join(request, in: &state) { $0.join(mailbox, request) ? $0 : nil }
    }
    switch outcome {
    case .success(let shared): return shared
    case .failure(let failure):
      mailbox.end(with: .error(failure))
      return nil
    }
  }

  func noteLeft() {
    state.withLock { state in
      state.clients -= 1
      clientGauge.record(state.clients)
    }
  }

  /// Keeps a subscription open until it ends, or until the task is cancelled.
  func keep(
    _ request: ReadRequest, by keeper: any SubscriptionKeeper
  ) async -> SubscriptionEnding {
    let request = request.seenByUpstream()
    let outcome = state.withLock { state in
      join(request, in: &state) { shared in shared.join(keeper).map { (shared, $0) } }
    }
    switch outcome {
    case .failure(let failure): return .failed(failure)
    case .success((let shared, let isLive)):
      // The events before were not the keeper's.
      if isLive { await keeper.established(afterGap: true) }
      let ending = await shared.waitForEnd()
      shared.leave(keeper)
      return ending
    }
  }

  /// Marks everything that a standing subscription covers as due, for all callers.
  ///
  /// - Returns: false if the store did not take it: it must be tried again.
  func markDue(_ request: ReadRequest) async -> Bool {
    await environment.writer.markDue(request.seenByUpstream(), everywhere: true)
  }

  // MARK: Shared subscriptions

  /// - Parameter enter: enters a subscription; nil if that has ended.
  private func join<Entry>(
    _ request: ReadRequest, in state: inout State, _ enter: (SharedSubscription) -> Entry?
  ) -> Result<Entry, Failure> {
    if let open = state.open[request.key], let entry = enter(open.shared) {
      return .success(entry)
    }
    if let failure = Self.refusal(of: request, in: state) { return .failure(failure) }
    let shared = SharedSubscription(request, environment) { [weak self] in self?.forget($0) }
    guard let entry = enter(shared) else { return .failure(Self.draining) }
    // One that has closed and is not forgotten yet.
    Self.remove(request.key, from: &state)
    let owner = request.caller.owner
    state.open[request.key] = Open(
      shared: shared, owner: owner, isUnknown: request.isUnknown)
    if let owner { state.counts[owner, default: 0] += 1 }
    if request.isUnknown { state.unknown += 1 }
    state.running[ObjectIdentifier(shared)] = shared
    openGauge.record(state.open.count)
    Task.detached { [self] in
      await shared.run()
      noteFinished(shared)
    }
    return .success(entry)
  }

  private static func refusal(of request: ReadRequest, in state: State) -> Failure? {
    if state.hasEnded { return draining }
    if state.open[request.key] != nil { return nil }
    if let owner = request.caller.owner,
      state.counts[owner, default: 0] >= subscriptionsOfOwnerMax
    {
      return Failure(
        .rateLimited,
        "This \(owner.isNetwork ? "network" : "caller") has \(subscriptionsOfOwnerMax) different "
          + "subscriptions open, the maximum; close one, or retry later.", retry: .after,
        retryAfter: linger)
    }
    guard state.open.count < subscriptionsMax,
      !request.isUnknown || state.unknown < unknownMax
    else {
      return Failure(
        .overloaded, "Too many different subscriptions are open; retry later.", retry: .after,
        retryAfter: linger)
    }
    return nil
  }

  private static func remove(_ key: ResultKey, from state: inout State) {
    guard let open = state.open.removeValue(forKey: key) else { return }
    if open.isUnknown { state.unknown -= 1 }
    guard let owner = open.owner else { return }
    state.counts[owner, default: 1] -= 1
    if state.counts[owner] == 0 { state.counts[owner] = nil }
  }

  private func noteFinished(_ shared: SharedSubscription) {
    state.withLock { _ = $0.running.removeValue(forKey: ObjectIdentifier(shared)) }
    finished.notify()
  }

  private func forget(_ shared: SharedSubscription) {
    state.withLock { state in
      guard state.open[shared.key]?.shared === shared else { return }
      Self.remove(shared.key, from: &state)
      openGauge.record(state.open.count)
    }
  }

  private static var switchedOff: Failure {
    Failure(
      .notImplemented, "This service opens no subscriptions to the API that the operation is of.")
  }

  private static var draining: Failure {
    Failure(.draining, "The service is shutting down.", retry: .after, retryAfter: .seconds(1))
  }

  /// The open subscriptions, sorted by operation and variables.
  package var statuses: [SubscriptionStatus] {
    state.withLock { $0.open.values.map(\.shared) }.map(\.status).sorted {
      ($0.key.operation, $0.key.variables) < ($1.key.operation, $1.key.variables)
    }
  }

  /// The number of open subscriptions and of clients.
  package var counts: (subscriptions: Int, clients: Int) {
    state.withLock { ($0.open.count, $0.clients) }
  }

  /// Ends all subscriptions, and returns when their last events are stored.
  package func end() async {
    let all = state.withLock { state in
      state.hasEnded = true
      return Array(state.running.values)
    }
    for shared in all { shared.end() }
    while true {
      let seen = finished.count
      if state.withLock({ $0.running.isEmpty }) { return }
      await finished.wait(after: seen, ignoresCancellation: true)
    }
  }
}

extension ReadRequest {
  /// Whether any number of such requests can come from one stranger: the caller is known only by its
  /// network, or the scope depends on headers that are not verified.
  var isUnknown: Bool {
    if caller.owner?.isNetwork == true { return true }
    return caller.user == nil && !caller.isAdmin
      && (scope.kind == .user || !scope.partition.isEmpty)
  }
}
