import Logging
import Model
import Storage
import SyncScheduler
import Synchronization
import Traces
import Tracing
import Transport

/// Drains the queues of all devices: ``SyncScheduler/SendRotation`` decides which device sends next, the
/// device's queue decides which mutation, and every wait ends with a timer.
///
/// It keeps no payloads and no decisions: a turn is a claim on disk, an attempt, and a settlement on
/// disk. Anything lost with the process is recovered at the next start.
package final class QueueWorker: Sendable {
  /// The minimum time that the end waits for running turns, even if the time to end is over.
  private static let endingMin = Duration.seconds(1)

  /// What is called when upstreams refuse credentials.
  struct Refusals: Sendable {
    /// Called with the digest of the credential that an upstream refused.
    let noted: @Sendable (_ device: String, _ upstream: String, _ digest: [UInt8]?) -> Void
    /// Called at the start for each queue that waits for a credential.
    let recovered: @Sendable (_ device: String, _ control: QueueControl) -> Void
    /// Called at the start once all of those were reported.
    let ended: @Sendable () -> Void
  }

  private struct State {
    var rotation: SendRotation
    var alarm: Task<Void, Never>?
    var alarmTime: Timestamp?
    /// When the process was told to end, in queue time: from then on only forced mutations are sent.
    var endAsked: Timestamp?
    var hasEnded = false
    /// The number of running turns.
    var running = 0
    var failures = FailureTally()
  }

  private let store: Store
  private let sender: MutationSender
  private let environment: QueueEnvironment
  private let epoch: MutationEpoch
  private let logger: Logger
  /// By upstream.
  private let meters: [UpstreamName: QueueMeters]
  private let overlays: LingeringOverlays
  private let state: Mutex<State>
  /// Notified once the last turn has ended after ``end(within:)`` began.
  private let idle: AsyncSignal
  private let refused: Refusals
  /// Nil without tracing.
  private let tracer: SpanTracer?

  init(
    store: Store, sender: MutationSender, environment: QueueEnvironment, epoch: MutationEpoch,
    concurrency: SendConcurrency, logger: Logger, tracer: SpanTracer? = nil, refused: Refusals
  ) {
    self.store = store
    self.sender = sender
    self.environment = environment
    self.epoch = epoch
    self.logger = logger
    self.refused = refused
    self.tracer = tracer
    let upstreams = sender.upstreams.all
    let isSole = upstreams.count == 1
    let meters = upstreams.map { ($0.name, QueueMeters(upstream: isSole ? nil : $0.name)) }
    self.meters = Dictionary(meters, uniquingKeysWith: { first, _ in first })
    idle = AsyncSignal(sleep: environment.sleep)
    overlays = LingeringOverlays(store: store, environment: environment)
    state = Mutex(State(rotation: SendRotation(concurrency: concurrency)))
  }

  // MARK: Start and end

  /// Recovers the queues that the last process left, and starts sending.
  package func start() async {
    Task.detached { [overlays] in await overlays.run() }
    let recovery = QueueRecovery(
      store: store, registry: sender.registry, environment: environment, logger: logger,
      recovered: { self.note($0, of: $1) }, refused: { self.refused.recovered($0, $1) })
    await recovery.run()
    refused.ended()
  }

  /// Stops sending queued mutations: they can wait for the next start, and a response could come too
  /// late. Forced mutations are still sent, since their callers wait.
  package func prepareToEnd() {
    let now = environment.now
    state.withLock { $0.endAsked = $0.endAsked ?? now }
  }

  /// Starts no more turns, and returns once the running ones have ended or the time is over. A
  /// mutation without a response by then is recovered at the next start, as after a crash.
  ///
  /// - Parameter time: the time since ``prepareToEnd()``; must be less than the time after which the
  ///   process is killed.
  package func end(within time: Duration = .seconds(5)) async {
    prepareToEnd()
    let now = environment.now
    let passed = state.withLock { $0.endAsked }?.elapsed(until: now) ?? .zero
    let wait = max(Self.endingMin, time - passed)
    overlays.end()
    let isIdle = state.withLock { state in
      state.hasEnded = true
      state.alarm?.cancel()
      state.alarm = nil
      return state.running == 0
    }
    if !isIdle { await idle.wait(atMost: wait, ignoresCancellation: true) }
  }

  /// The number of running turns and checks. At zero, only the timer or a notification starts more.
  var runningCount: Int { state.withLock { $0.running } }

  /// Whether the timer is due, but its work has not started.
  var isAlarmDue: Bool {
    let now = environment.now
    return state.withLock { $0.alarmTime.map { $0 <= now } ?? false }
  }

  // MARK: Turns

  /// Notes a device's new schedule.
  func note(_ schedule: QueueSchedule, of device: String) {
    state.withLock { $0.rotation.note(schedule, of: device) }
    pump()
  }

  /// Looks at queues that can send again since their account was enabled.
  package func wake(_ devices: [String]) {
    state.withLock { $0.running += 1 }
    Task.detached {
      defer { self.ended() }
      for device in devices {
        do throws(StorageError) {
          let commit = try await self.store.look(at: device, timing: self.environment.timing)
          self.note(commit.outlook, of: device)
        } catch {
          await self.waitForStore(error, device: device)
        }
      }
    }
  }

  /// Notes that upstream served another caller successfully.
  func noteSuccess(of upstream: String) {
    let now = environment.now
    if state.withLock({ $0.rotation.succeeded(upstream, at: now) }) { pump() }
  }

  /// Starts the turns that are due.
  ///
  /// - Parameter isAlarm: whether the timer fired, so that a new one can be set.
  private func pump(isAlarm: Bool = false) {
    let now = environment.now
    let (woken, turns) = state.withLock { state -> ([String], [SendRotation.Turn]) in
      if isAlarm { state.alarmTime = nil }
      guard !state.hasEnded else { return ([], []) }
      let woken = state.rotation.woken(at: now)
      var turns: [SendRotation.Turn] = []
      while let turn = state.rotation.next(at: now, isEnding: state.endAsked != nil) {
        turns.append(turn)
      }
      state.running += woken.count + turns.count
      arm(&state, at: now)
      return (woken, turns)
    }
    for device in woken { Task.detached { await self.look(at: device) } }
    for turn in turns { Task.detached { await self.take(turn) } }
  }

  /// Sets the one timer for everything that becomes due; a later time does not replace it.
  private func arm(_ state: inout State, at now: Timestamp) {
    guard let wake = state.rotation.wake else { return }
    if let armed = state.alarmTime, armed <= wake { return }
    state.alarm?.cancel()
    state.alarmTime = wake
    let wait = max(.milliseconds(1), now.elapsed(until: wake))
    state.alarm = Task.detached { [environment] in
      do { try await environment.sleep(wait) } catch { return }
      self.pump(isAlarm: true)
    }
  }

  private func look(at device: String) async {
    defer { ended() }
    do throws(StorageError) {
      note(try await store.look(at: device, timing: environment.timing).outlook, of: device)
    } catch {
      await waitForStore(error, device: device)
    }
  }

  /// Runs a turn, and those that follow it in its slot while no other device waits for one.
  private func take(_ first: SendRotation.Turn) async {
    defer { ended() }
    guard var claimed = await claim(first) else { return }
    var turn = first
    while true {
      let (attempt, commit) = await attempt(claimed, turn)
      if let call = attempt.call { sender.calls.end(call) }
      if let start = attempt.start { sender.calls.end(start) }
      epoch.advance()
      if commit?.answer.lingers == true { overlays.noteLingering() }
      if [.authRefused, .credentialUnreadable].contains(attempt.outcome) {
        refused.noted(turn.device, claimed.mutation.upstream, attempt.refusedCredential)
      }
      guard let commit else {
        // It is recovered as in flight, once the store can be read and written.
        return close(
          turn, as: attempt.outcome,
          QueueSchedule(ready: [], wake: environment.now.advanced(by: QueueEnvironment.damagePause))
        )
      }
      guard let next = commit.answer.next else {
        return close(turn, as: attempt.outcome, commit.outlook)
      }
      state.withLock {
        $0.rotation.continueTurn(
          turn, as: attempt.outcome, at: environment.now, policy: environment.policy)
      }
      note(commit.outlook, of: turn.device)
      claimed = next
      turn = SendRotation.Turn(device: turn.device, ready: QueueSchedule.Ready(next.mutation))
    }
  }

  /// Makes one attempt and stores its end, as the first span of a trace of its own: it can come days after
  /// the request that enqueued the mutation, whose span it links to.
  private func attempt(
    _ claimed: ClaimedMutation, _ turn: SendRotation.Turn
  ) async -> (MutationSender.Attempt, QueueCommit<SettledMutation>?) {
    guard let tracer else { return await attemptUntraced(claimed, turn) }
    let cause = claimed.payload.trace.flatMap { TraceContext(traceparent: $0) }
    let span = tracer.follow("queue attempt", kind: .consumer, cause: cause)
    span.describe(claimed.mutation)
    return await span.during {
      let result = await attemptUntraced(claimed, turn)
      span.set("larder.queue.outcome", result.0.outcome.name)
      if !result.0.outcome.isApplied { span.fail(result.0.outcome.name) }
      return result
    }
  }

  private func attemptUntraced(
    _ claimed: ClaimedMutation, _ turn: SendRotation.Turn
  ) async -> (MutationSender.Attempt, QueueCommit<SettledMutation>?) {
    let attempt = await sender.attempt(claimed)
    meters[UpstreamName(claimed.mutation.upstream)]?.note(attempt.outcome)
    logFailure(attempt.outcome, of: claimed.mutation)
    let commit = await CurrentTrace.within("commit") { _ in
      await settle(attempt, of: claimed, turn)
    }
    return (attempt, commit)
  }

  /// Logs at most one line a minute for each operation, since a queue of thousands can fail at once.
  private func logFailure(_ outcome: SendOutcome, of mutation: Mutation) {
    let now = environment.now
    let count = state.withLock {
      $0.failures.note(outcome, operation: mutation.operation, at: now)
    }
    guard let count else { return }
    logger.warning(
      "queued mutations failed",
      metadata: [
        "operation": "\(mutation.operation)", "outcome": "\(outcome.name)",
        "count": .stringConvertible(count),
        "mutation": "\(mutation.id.value)",
        "attempts": .stringConvertible(mutation.attempts + 1),
      ])
  }

  /// Claims a turn's mutation.
  ///
  /// - Returns: nil if the turn is over: nothing can be sent any more, or the store failed.
  private func claim(_ turn: SendRotation.Turn) async -> ClaimedMutation? {
    do throws(StorageError) {
      let commit = try await store.claim(
        turn.ready, of: turn.device, timing: environment.timing)
      guard let claimed = commit.answer else {
        close(turn, as: nil, commit.outlook)
        return nil
      }
      note(commit.outlook, of: turn.device)
      return claimed
    } catch {
      state.withLock {
        $0.rotation.ended(turn, as: nil, at: environment.now, policy: environment.policy)
      }
      await waitForStore(error, device: turn.device)
      return nil
    }
  }

  private func close(
    _ turn: SendRotation.Turn, as outcome: SendOutcome?, _ schedule: QueueSchedule?
  ) {
    state.withLock { state in
      state.rotation.ended(
        turn, as: outcome, at: environment.now, policy: environment.policy)
      if let schedule { state.rotation.note(schedule, of: turn.device) }
    }
    pump()
  }

  /// Stores an attempt's outcome. An outcome must not be lost because the disk is full for a while:
  /// the mutation stays in flight until its end is written. A permanent fault does not occupy a slot:
  /// a response that cannot be stored is left out, and if the mutation's own rows are damaged, the
  /// turn ends.
  ///
  /// - Returns: the commit, with the device's next mutation, claimed, if the turn can go on; nil if
  ///   nothing was written.
  private func settle(
    _ attempt: MutationSender.Attempt, of claimed: ClaimedMutation, _ turn: SendRotation.Turn
  ) async -> QueueCommit<SettledMutation>? {
    let mutation = claimed.mutation
    let (others, mayGoOn) = state.withLock { state in
      (
        state.rotation.lastSucceeded(mutation.upstream),
        state.endAsked == nil && state.rotation.canContinue(turn)
      )
    }
    var settlement = MutationSettlement(
      claim: claimed.claim, outcome: attempt.outcome, othersSucceeded: others,
      response: attempt.response, result: attempt.result)
    while true {
      do throws(StorageError) {
        return try await store.settle(
          settlement, goesOn: mayGoOn && attempt.outcome.isApplied, of: mutation.device,
          timing: environment.timing)
      } catch {
        logger.error(
          "a mutation's outcome could not be stored yet",
          metadata: ["operation": "\(mutation.operation)", "cause": "\(error)"])
        if error == .closed || error.isDamage || state.withLock({ $0.hasEnded }) { return nil }
        if case .failed = error {
          guard settlement.response != nil else { return nil }
          settlement = MutationSettlement(
            claim: claimed.claim, outcome: attempt.outcome, othersSucceeded: others,
            result: attempt.result)
          continue
        }
        do { try await environment.sleep(QueueEnvironment.storePause) } catch { return nil }
      }
    }
  }

  // MARK: Failures

  private func waitForStore(_ error: StorageError, device: String) async {
    guard error != .closed, !state.withLock({ $0.hasEnded }) else { return }
    do { try await environment.pause(after: error, logger) } catch { return }
    let now = environment.now
    note(QueueSchedule(ready: [], wake: now), of: device)
  }

  private func ended() {
    let isOver = state.withLock { state in
      state.running -= 1
      return state.running == 0 && state.hasEnded
    }
    if isOver { idle.notify() }
  }
}

extension TraceSpan {
  fileprivate func describe(_ mutation: Mutation) {
    set("larder.operation", mutation.operation)
    set("larder.queue.mode", mutation.mode.rawValue)
    set("larder.queue.step", mutation.step.rawValue)
    set("larder.queue.attempt", mutation.attempts + 1)
  }
}

extension SendOutcome {
  fileprivate var isApplied: Bool { if case .applied = self { true } else { false } }
}

extension QueueSchedule.Ready {
  /// The entry of a mutation that is sent in its turn, not forced.
  fileprivate init(_ mutation: Mutation) {
    self.init(
      id: mutation.id, upstream: mutation.upstream, place: mutation.place, isForced: false,
      isRepeatable: mutation.unknownRule == .sendAgain)
  }
}
