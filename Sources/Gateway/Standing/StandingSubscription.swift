import Logging
import LosslessJSON
import Model
import Storage
import Synchronization
import Transport
import Upstream

/// Keeps one subscription of settings open, and fills its gaps: with the query that fetches what was
/// missed, or by marking everything that it covers as due.
///
/// A gap is filled before later events are stored, and from the newest value at the moment the connection
/// was lost. Values that other reads store meanwhile would hide what the subscription missed.
final class StandingSubscription: SubscriptionKeeper {
  /// The times of attempts to keep it open and to fill a gap.
  enum Pauses {
    static let first = Duration.seconds(1)
    static let max = Duration.seconds(60)
    /// After upstream refused the service's credential or the subscription: only the operator can mend
    /// it.
    static let refused = Duration.seconds(300)
    /// The maximum number of attempts to fetch what was missed, after which it is marked as due.
    static let attemptsMax = 6
  }

  private struct State {
    /// The newest value before the gap, until the gap is filled.
    var mark: JSONValue?
    var hasGap = false
    var filling: Task<Void, Never>?
    /// Whether everything that the gap covers is marked as due while it is being filled.
    var isMarked = false
    var hasEnded = false
    var phase = StandingStatus.Phase.connecting
    var lastConfirmed: Timestamp?
    var lastFailure: Failure?
    var cause: String?
    var nextAttempt: Timestamp?
    /// Whether it has ended since upstream confirmed it last.
    var mustComeBack = false
  }

  let plan: StandingPlan
  private let request: ReadRequest
  private let hub: SubscriptionHub
  private let pull: EntityPull
  private let environment: StandingEnvironment
  private let meters: StandingMeters
  private let state = Mutex(State())
  /// Notified when an attempt to fill a gap has ended.
  private let progress = AsyncSignal()

  init(
    _ plan: StandingPlan, hub: SubscriptionHub, pull: EntityPull, meters: StandingMeters,
    environment: StandingEnvironment
  ) {
    self.meters = meters
    self.plan = plan
    self.hub = hub
    self.pull = pull
    self.environment = environment
    request = ReadRequest(
      operation: plan.operation, variables: plan.variables, caller: pull.caller)
  }

  var status: StandingStatus {
    state.withLock { state in
      StandingStatus(
        upstream: plan.operation.upstream, operation: plan.operation.name,
        variables: plan.variables.json, phase: state.phase, hasGap: state.hasGap,
        lastConfirmed: state.lastConfirmed, lastFailure: state.lastFailure, cause: state.cause,
        nextAttempt: state.nextAttempt)
    }
  }

  /// Keeps the subscription open until cancelled.
  func run() async {
    // The service was not there: whatever happened since its last event was missed.
    await noteGap()
    var failures = 0
    while !Task.isCancelled {
      let began = environment.uptime()
      let ending = await hub.keep(request, by: self)
      if Task.isCancelled { return }
      if environment.uptime() - began > Pauses.max { failures = 0 }
      failures += 1
      let pause = pause(after: ending, failures: failures)
      note(ending, pause: pause)
      await noteGap()
      log(ending, pause: pause)
      do { try await environment.sleep(pause) } catch { return }
      change { state in
        state.phase = .connecting
        state.nextAttempt = nil
      }
    }
  }

  private func note(_ ending: SubscriptionEnding, pause: Duration) {
    let next = environment.clock.now().advanced(by: pause)
    change { state in
      state.phase = .waiting
      state.nextAttempt = next
      state.mustComeBack = true
      state.cause = ending.cause
      if case .failed(let failure) = ending { state.lastFailure = failure }
    }
  }

  /// Changes the state, and the number of those that are not live with it.
  private func change(_ body: (inout State) -> Void) {
    state.withLock { state in
      let wasLive = state.phase == .live
      body(&state)
      guard (state.phase == .live) != wasLive else { return }
      meters.note(isLive: !wasLive, of: plan.operation.name)
    }
  }

  /// Ends the work on a gap.
  func end() {
    let filling = state.withLock { state in
      state.hasEnded = true
      return state.filling
    }
    filling?.cancel()
    progress.notify()
  }

  private func pause(after ending: SubscriptionEnding, failures: Int) -> Duration {
    if case .failed(let failure) = ending, failure.retry == .never { return Pauses.refused }
    let bound = min(Pauses.max, Pauses.first * (1 << min(failures, 10)))
    return max(.milliseconds(100), bound * environment.random())
  }

  private func log(_ ending: SubscriptionEnding, pause: Duration) {
    environment.logger.warning(
      "a standing subscription ended; it is opened again",
      metadata: [
        "operation": "\(plan.operation.name)", "upstream": "\(plan.operation.upstream)",
        "cause": "\(ending.cause)", "in": "\(pause.wholeSeconds)s",
      ])
  }

  // MARK: Gaps

  func interrupted(_ failure: UpstreamFailure?) async {
    if let failure {
      change { state in
        state.phase = .connecting
        state.lastFailure = failure.subscriptionFailure
        state.cause = "\(failure)"
      }
    }
    await noteGap()
  }

  func established(afterGap: Bool) async {
    let now = environment.clock.now()
    var comesBack = false
    change { state in
      comesBack = state.mustComeBack
      state.phase = .live
      state.lastConfirmed = now
      state.lastFailure = nil
      state.cause = nil
      state.mustComeBack = false
    }
    if comesBack {
      environment.logger.warning(
        "a standing subscription is live again",
        metadata: [
          "operation": "\(plan.operation.name)", "upstream": "\(plan.operation.upstream)",
        ])
    }
    if afterGap { await noteGap() }
    state.withLock { state in
      guard state.hasGap, !state.hasEnded else { return }
      state.filling?.cancel()
      state.isMarked = false
      state.filling = Task.detached { await self.fillGap() }
    }
    // Later attempts go on beside the events, whose clients have waited long enough.
    while !Task.isCancelled {
      let seen = progress.count
      if state.withLock({ !$0.hasGap || $0.isMarked || $0.hasEnded }) { return }
      await progress.wait(after: seen)
    }
  }

  /// Begins a gap, unless one is open already.
  private func noteGap() async {
    guard !state.withLock({ $0.hasGap }) else { return }
    let mark: JSONValue?
    do throws(StorageError) {
      mark =
        try await plan.catchUp.asyncMap { query async throws(StorageError) in
          try await pull.newestStored(for: query)
        } ?? nil
    } catch {
      environment.logger.warning(
        "the newest stored value could not be read: everything that is stored is fetched again",
        metadata: ["operation": "\(plan.operation.name)", "cause": "\(error)"])
      mark = nil
    }
    state.withLock { state in
      guard !state.hasGap else { return }
      state.hasGap = true
      state.mark = mark
    }
  }

  private func fillGap() async {
    let mark = state.withLock { $0.mark }
    let isFetched = await plan.catchUp.asyncMap { await catchUp($0, after: mark) } ?? false
    if !isFetched { await markDue() }
    if Task.isCancelled { return }
    state.withLock { state in
      state.hasGap = false
      state.mark = nil
      state.filling = nil
    }
    progress.notify()
  }

  /// Marks everything that the gap covers as due, once, as soon as the store takes it.
  private func markDue() async {
    var pause = Pauses.first
    while !Task.isCancelled, !state.withLock({ $0.isMarked }) {
      if await hub.markDue(request) {
        state.withLock { $0.isMarked = true }
        return progress.notify()
      }
      do { try await environment.sleep(pause) } catch { return }
      pause = min(pause * 2, Pauses.max)
    }
  }

  /// Fetches what was missed.
  ///
  /// - Returns: false if it could not be fetched.
  private func catchUp(_ query: RepeatedQuery, after mark: JSONValue?) async -> Bool {
    // Without a value such a query cannot begin.
    guard query.variables(since: mark) != nil else { return false }
    let lists = plan.operation.changedTargets(with: plan.variables, data: nil)
    for attempt in 1...Pauses.attemptsMax {
      do throws(Failure) {
        _ = try await pull.pull(query, after: mark, invalidations: lists)
        return true
      } catch {
        environment.logger.warning(
          "missed events could not be fetched",
          metadata: [
            "operation": "\(query.operation.name)", "code": "\(error.code.rawValue)",
            "cause": "\(error.cause ?? error.message)", "attempt": "\(attempt)",
          ])
        if error.retry == .never { return false }
      }
      guard attempt < Pauses.attemptsMax else { break }
      // Until it succeeds, reads fetch for themselves.
      await markDue()
      let pause = Pauses.first * (1 << attempt) * (0.5 + environment.random() / 2)
      do { try await environment.sleep(pause) } catch { return false }
    }
    return false
  }
}

extension Optional {
  fileprivate func asyncMap<Output, Failure>(
    _ transform: (Wrapped) async throws(Failure) -> Output
  ) async throws(Failure) -> Output? {
    guard let self else { return nil }
    return try await transform(self)
  }
}
