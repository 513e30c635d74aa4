import Logging
import Model
import Storage
import Synchronization

/// Drains the queues of all devices by itself: whose turn it is says ``Model/SendRotation``, what
/// may go the device's queue, and every wait ends by its own alarm.
///
/// It holds no payloads and no decisions: a turn is a claim on disk, an attempt, and a settlement
/// on disk. Whatever is lost with the process is found again at the next start.
package final class QueueWorker: Sendable {
  /// Devices looked at together after a start, so that they share commits; what is sent meanwhile
  /// waits for no more of them than these.
  private static let recoveredAtATime = 16
  /// Until a settlement that the store could not take is tried again.
  private static let settlementPause = Duration.seconds(1)
  /// Until what a damaged page holds is looked at again: only a restored backup mends it.
  private static let damagePause = Duration.seconds(60)
  /// What the end waits for turns under way at least, where the time to end is over already.
  private static let endingMin = Duration.seconds(1)

  private struct State {
    var rotation: SendRotation
    var alarm: Task<Void, Never>?
    var alarmTime: Timestamp?
    /// When the process was told to end, in queue time: from then on only forced ones go.
    var endAsked: Timestamp?
    var hasEnded = false
    /// Turns that are under way.
    var running = 0
    var ending: CheckedContinuation<Void, Never>?
    var lingering = OverlayExpiry()
    var troubles = FailureTally()
  }

  private let store: Store
  private let sender: MutationSender
  private let surroundings: QueueEnvironment
  private let epoch: MutationEpoch
  private let logger: Logger
  private let meters = QueueMeters()
  private let state: Mutex<State>
  /// Told of a credential that upstream refused.
  private let refused: @Sendable (_ device: String, _ digest: [UInt8]?) -> Void

  init(
    store: Store, sender: MutationSender, surroundings: QueueEnvironment, epoch: MutationEpoch,
    concurrencyMax: Int, logger: Logger,
    refused: @escaping @Sendable (_ device: String, _ digest: [UInt8]?) -> Void
  ) {
    self.store = store
    self.sender = sender
    self.surroundings = surroundings
    self.epoch = epoch
    self.logger = logger
    self.refused = refused
    state = Mutex(State(rotation: SendRotation(concurrencyMax: concurrencyMax)))
  }

  // MARK: Life

  /// Finds what the last process left, and begins to send.
  package func start() async {
    Task.detached { await self.dropLingering() }
    var last = ""
    // The first one sends while the others are still read.
    var count = 1
    var survey = OperationSurvey()
    while !Task.isCancelled {
      do throws(StorageError) {
        let devices = try await store.queueDevices(after: last, limit: count)
        guard let end = devices.last else { return survey.report(to: logger) }
        survey.add(try await recover(devices))
        last = end
        count = min(count * 2, Self.recoveredAtATime)
      } catch {
        do { try await surroundings.sleep(pause(after: error)) } catch { return }
      }
    }
  }

  /// Together, so that they share commits.
  private func recover(_ devices: [String]) async throws(StorageError) -> OperationSurvey {
    let outcomes = await withTaskGroup(of: Result<OperationSurvey, StorageError>.self) { group in
      for device in devices {
        group.addTask { [self] in
          do throws(StorageError) {
            let survey = try await survey(device)
            let commit = try await store.recover(
              device, review: survey.review, timing: surroundings.timing)
            if commit.needsCredential { refused(device, nil) }
            note(commit.outlook, of: device)
            return .success(survey)
          } catch  where error.isDamage {
            // One device's damaged rows stop no other's.
            let wake = surroundings.now.advanced(by: Self.damagePause)
            note(QueueSchedule(ready: [], wake: wake), of: device)
            return .success(OperationSurvey())
          } catch {
            return .failure(error)
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    var all = OperationSurvey()
    for outcome in outcomes { all.add(try outcome.get()) }
    return all
  }

  /// Compares what a device's queue holds with the operations in force.
  private func survey(_ device: String) async throws(StorageError) -> OperationSurvey {
    let fit = OperationFit(registry: sender.registry)
    var survey = OperationSurvey()
    for held in try await store.heldPayloads(of: device) {
      var known: [TemporaryID: EntityKey] = [:]
      if held.variables.utf8.contains(UInt8(ascii: "~")) {
        let mentioned = TemporaryID.mentioned(
          in: OperationFit.substituting([:], in: held.variables))
        known = try await store.resolve(Array(mentioned), of: device)
      }
      survey.note(held, fit: fit, known: known)
    }
    return survey
  }

  /// Sends nothing more by itself: what waits can wait for the next start, and what is sent now may
  /// not have its answer in time. Forced mutations still go, since their callers wait.
  package func prepareToEnd() {
    let now = surroundings.now
    state.withLock { $0.endAsked = $0.endAsked ?? now }
  }

  /// Begins nothing more, and returns once what is under way has ended, or has had its time. What is
  /// unanswered then is seen to at the next start as after a crash.
  ///
  /// - Parameter time: counted from ``prepareToEnd()``; less than what ends the process by force.
  package func end(within time: Duration = .seconds(5)) async {
    prepareToEnd()
    let now = surroundings.now
    let passed = state.withLock { $0.endAsked }?.elapsed(until: now) ?? .zero
    let wait = max(Self.endingMin, time - passed)
    let alarm = Task.detached { [surroundings] in
      do { try await surroundings.sleep(wait) } catch { return }
      self.state.withLock { $0.ending.take() }?.resume()
    }
    defer { alarm.cancel() }
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { state in
        state.hasEnded = true
        state.alarm?.cancel()
        state.alarm = nil
        if state.running > 0 { state.ending = continuation }
        return state.running == 0
      }
      if isIdle { continuation.resume() }
    }
  }

  /// Turns and looks under way. At none only the alarm or somebody's word brings more.
  var runningCount: Int { state.withLock { $0.running } }

  /// The time of the alarm has come, and what it brings has not begun.
  var isAlarmDue: Bool {
    let now = surroundings.now
    return state.withLock { $0.alarmTime.map { $0 <= now } ?? false }
  }

  // MARK: Turns

  /// A device's queue is another than before.
  func note(_ outlook: QueueSchedule, of device: String) {
    state.withLock { $0.rotation.note(outlook, of: device) }
    pump()
  }

  /// Upstream answered somebody else well.
  func noteWork(of upstream: String) {
    let now = surroundings.now
    if state.withLock({ $0.rotation.succeeded(upstream, at: now) }) { pump() }
  }

  /// - Parameter isAlarm: the alarm went off, and another may be set.
  private func pump(isAlarm: Bool = false) {
    let now = surroundings.now
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

  /// One alarm for everything that time alone brings; a later one is not worth replacing it.
  private func arm(_ state: inout State, at now: Timestamp) {
    guard let wake = state.rotation.wake else { return }
    if let armed = state.alarmTime, armed <= wake { return }
    state.alarm?.cancel()
    state.alarmTime = wake
    let wait = max(.milliseconds(1), now.elapsed(until: wake))
    state.alarm = Task.detached { [surroundings] in
      do { try await surroundings.sleep(wait) } catch { return }
      self.pump(isAlarm: true)
    }
  }

  private func look(at device: String) async {
    defer { ended() }
    do throws(StorageError) {
      note(try await store.look(at: device, timing: surroundings.timing).outlook, of: device)
    } catch {
      await waitForStore(error, device: device)
    }
  }

  /// A turn, and those that follow it in its place while nobody else waits for one.
  private func take(_ first: SendRotation.Turn) async {
    defer { ended() }
    guard var claimed = await claim(first) else { return }
    var turn = first
    while true {
      let attempt = await sender.attempt(claimed)
      meters.note(attempt.outcome)
      logFailure(attempt.outcome, of: claimed.mutation)
      let commit = await settle(attempt, of: claimed, turn)
      if let call = attempt.call { sender.calls.end(call) }
      if let start = attempt.start { sender.calls.end(start) }
      epoch.advance()
      if commit?.answer.lingers == true { noteLingering() }
      if [.authRefused, .credentialUnreadable].contains(attempt.outcome) {
        refused(turn.device, attempt.refusedCredential)
      }
      guard let commit else {
        // Found again as in flight, once the store can be read and written.
        return close(
          turn, as: attempt.outcome,
          QueueSchedule(ready: [], wake: surroundings.now.advanced(by: Self.damagePause)))
      }
      guard let next = commit.answer.next else {
        return close(turn, as: attempt.outcome, commit.outlook)
      }
      state.withLock {
        $0.rotation.wentOn(
          turn, as: attempt.outcome, at: surroundings.now, policy: surroundings.policy)
      }
      note(commit.outlook, of: turn.device)
      claimed = next
      turn = SendRotation.Turn(device: turn.device, ready: QueueSchedule.Ready(next.mutation))
    }
  }

  /// A line a minute for each operation at most: a queue of thousands fails as often.
  private func logFailure(_ outcome: SendOutcome, of mutation: Mutation) {
    let now = surroundings.now
    let count = state.withLock {
      $0.troubles.note(outcome, operation: mutation.operation, at: now)
    }
    guard let count else { return }
    logger.warning(
      "queued mutations fail",
      metadata: [
        "operation": "\(mutation.operation)", "outcome": "\(outcome.name)", "count": "\(count)",
        "mutation": "\(mutation.id.value)", "attempts": "\(mutation.attempts + 1)",
      ])
  }

  /// - Returns: nil where the turn is over: nothing may go any more, or the store did not take it.
  private func claim(_ turn: SendRotation.Turn) async -> ClaimedMutation? {
    do throws(StorageError) {
      let commit = try await store.claim(
        turn.ready, of: turn.device, timing: surroundings.timing)
      guard let claimed = commit.answer else {
        close(turn, as: nil, commit.outlook)
        return nil
      }
      note(commit.outlook, of: turn.device)
      return claimed
    } catch {
      state.withLock {
        $0.rotation.ended(turn, as: nil, at: surroundings.now, policy: surroundings.policy)
      }
      await waitForStore(error, device: turn.device)
      return nil
    }
  }

  private func close(
    _ turn: SendRotation.Turn, as outcome: SendOutcome?, _ outlook: QueueSchedule?
  ) {
    state.withLock { state in
      state.rotation.ended(
        turn, as: outcome, at: surroundings.now, policy: surroundings.policy)
      if let outlook { state.rotation.note(outlook, of: turn.device) }
    }
    pump()
  }

  /// What upstream did must not be forgotten because the disk is full for a while: the mutation
  /// stays in flight until its end is written. What no waiting mends holds no place: an answer that
  /// cannot be stored is left out, and where the mutation's own rows are damaged the turn ends.
  ///
  /// - Returns: with the device's next, claimed, where the turn may go on; nil where nothing was
  ///   written.
  private func settle(
    _ attempt: MutationSender.Attempt, of claimed: ClaimedMutation, _ turn: SendRotation.Turn
  ) async -> QueueCommit<SettledMutation>? {
    let mutation = claimed.mutation
    let (others, mayGoOn) = state.withLock { state in
      (
        state.rotation.lastSucceeded(mutation.upstream),
        state.endAsked == nil && state.rotation.mayGoOn(turn)
      )
    }
    var settlement = MutationSettlement(
      claim: claimed.claim, outcome: attempt.outcome, othersSucceeded: others,
      answer: attempt.answer, result: attempt.result)
    while true {
      do throws(StorageError) {
        return try await store.settle(
          settlement, goesOn: mayGoOn && attempt.outcome.isApplied, of: mutation.device,
          timing: surroundings.timing)
      } catch {
        logger.error(
          "a mutation's outcome could not be stored yet",
          metadata: ["operation": "\(mutation.operation)", "cause": "\(error)"])
        if error == .closed || error.isDamage || state.withLock({ $0.hasEnded }) { return nil }
        if case .failed = error {
          guard settlement.answer != nil else { return nil }
          settlement = MutationSettlement(
            claim: claimed.claim, outcome: attempt.outcome, othersSucceeded: others,
            result: attempt.result)
          continue
        }
        do { try await surroundings.sleep(Self.settlementPause) } catch { return nil }
      }
    }
  }

  // MARK: What lingers

  /// Expected changes whose mutation has settled stand no longer than they may.
  private func dropLingering() async {
    while !state.withLock({ $0.hasEnded }) {
      state.withLock { $0.lingering.willLook() }
      var next: Timestamp?
      do throws(StorageError) {
        next = try await store.dropLingering(now: surroundings.now)
      } catch {
        guard error != .closed else { return }
        next = surroundings.now.advanced(by: Self.settlementPause)
      }
      guard let next else {
        if state.withLock({ $0.lingering.foundNothing() }) { return }
        continue
      }
      let wait = max(.milliseconds(1), surroundings.now.elapsed(until: next))
      do { try await surroundings.sleep(wait) } catch { return }
    }
  }

  private func noteLingering() {
    if state.withLock({ $0.lingering.noteLingering() }) {
      Task.detached { await self.dropLingering() }
    }
  }

  private func waitForStore(_ error: StorageError, device: String) async {
    guard error != .closed, !state.withLock({ $0.hasEnded }) else { return }
    do { try await surroundings.sleep(pause(after: error)) } catch { return }
    let now = surroundings.now
    note(QueueSchedule(ready: [], wake: now), of: device)
  }

  /// Damage is logged once, with its remedy, where the store is opened.
  private func pause(after error: StorageError) -> Duration {
    if error.isDamage { return Self.damagePause }
    logger.error("a queue could not be read or written", metadata: ["cause": "\(error)"])
    return Self.settlementPause
  }

  private func ended() {
    let ending = state.withLock { state in
      state.running -= 1
      return state.running == 0 ? state.ending.take() : nil
    }
    ending?.resume()
  }
}

extension StorageError {
  /// Waiting does not mend it.
  fileprivate var isDamage: Bool { if case .corrupt = self { true } else { self == .moved } }
}

extension SendOutcome {
  fileprivate var isApplied: Bool { if case .applied = self { true } else { false } }
}

extension QueueSchedule.Ready {
  /// Of one that went by itself, in its turn.
  fileprivate init(_ mutation: Mutation) {
    self.init(
      id: mutation.id, upstream: mutation.upstream, place: mutation.place, isForced: false,
      isRepeatable: mutation.unknownRule == .sendAgain)
  }
}
