import Model
import SyncScheduler
import TestSupport

/// Walks through all reachable queues, each once: queues that differ only in names, times and finished
/// mutations are merged.
struct QueueExplorer {
  struct State {
    var queue: DeviceQueue
    var now: Timestamp
    var operationsLeft: Int
    var isNewAsked = false
    var known: [TemporaryID: EntityKey] = [:]
    var kinds: [MutationID: ExploredKind] = [:]
    var next: Int64 = 0
    /// The steps that led to it, for the report of a fault.
    var trail: ExploredStep?
  }

  let kinds: [ExploredKind]
  /// Whether clients also cancel and discard, which only shortens queues.
  let isWide: Bool
  /// Whether each queue is compared with its heads.
  let checksHeads: Bool
  private(set) var faults: [String] = []
  private(set) var stateCount = 0
  private(set) var stepCount = 0
  private var seen: Set<UInt128> = []
  private var random = SeededGenerator(seed: 1)
  /// Forced mutations stay armed for a whole walk, until a step lets their deadline pass.
  private let policy = QueuePolicy(
    forceDeadline: .seconds(86_400), answerDeadline: .seconds(10 * 86_400))

  private static let faultsMax = 5

  init(kinds: [ExploredKind], isWide: Bool, checksHeads: Bool = false) {
    self.kinds = kinds
    self.isWide = isWide
    self.checksHeads = checksHeads
  }

  mutating func explore(operations: Int) {
    var todo = [
      State(
        queue: DeviceQueue(device: "phone"), now: Timestamp(milliseconds: 1_000_000_000),
        operationsLeft: operations)
    ]
    while let state = todo.popLast(), faults.count < Self.faultsMax {
      guard seen.insert(fingerprint(state)).inserted else { continue }
      stateCount += 1
      check(state)
      todo += steps(from: state)
    }
  }

  private mutating func steps(from state: State) -> [State] {
    arrivals(in: state) + claims(in: state) + outcomes(in: state) + commands(in: state)
  }

  private mutating func arrivals(in state: State) -> [State] {
    guard state.operationsLeft > 0 else { return [] }
    return kinds.compactMap { kind in
      if kind.isCreate ? state.isNewAsked : kind.needsNew && !state.isNewAsked { return nil }
      let asked = kind.asked
      let id = MutationID("m\(state.next)")
      let submission = Mutation.Submission(
        id: id, key: id.value, fingerprint: .test(1),
        operation: asked.operation, upstream: "films", mode: asked.mode, effect: asked.effect,
        unknownRule: asked.rule, overtakesAll: asked.overtakesAll, object: asked.object,
        footprint: Footprint(
          object: asked.object, mentions: asked.mentions, creates: asked.creates))
      let mutation = Mutation(
        submission, device: "phone", sequence: state.next, now: state.now,
        expires: state.now.advanced(by: policy.expiry))
      guard
        let decision = try? state.queue.enqueuing(
          mutation, known: state.known, at: state.now, policy: policy)
      else { return nil }
      var after = commit(decision.changes, to: state, .arrived(kind, id))
      after.kinds[id] = kind
      after.next += 1
      after.operationsLeft -= 1
      after.isNewAsked = after.isNewAsked || kind.isCreate
      return after
    }
  }

  private mutating func claims(in state: State) -> [State] {
    state.queue.schedule(at: state.now, policy: policy).ready.compactMap { ready in
      guard let item = state.queue[ready.id],
        let changes = state.queue.claiming(
          ready.id, boot: "boot", at: state.now, policy: policy)
      else {
        faults.append("\(ready.id) is ready and cannot be claimed: \(trace(state))")
        return nil
      }
      for fault in OrderRule.faults(claiming: item, among: state.queue.held, at: state.now) {
        faults.append("\(fault): \(trace(state))")
      }
      return commit(changes, to: state, .claimed(ready.id))
    }
  }

  private mutating func outcomes(in state: State) -> [State] {
    var after: [State] = []
    for item in state.queue.held {
      guard let claim = item.claim else { continue }
      for outcome in possibleOutcomes(of: item) {
        guard
          let changes = state.queue.settling(
            claim, as: outcome, othersSucceeded: nil, at: state.now,
            using: &random)
        else {
          faults.append("\(item.id) cannot settle: \(trace(state))")
          continue
        }
        let next = commit(changes, to: state, ending: item.id, .ended(item.id, outcome))
        if outcome == .notSent(isAway: true), let other = successor(of: item.id, in: next) {
          faults.append("\(item.id) and \(other) would both go: \(trace(next))")
        }
        after.append(next)
      }
    }
    return after
  }

  /// The mutation that would have replaced a lazy one if it had come after the attempt that sent nothing.
  private func successor(of id: MutationID, in state: State) -> MutationID? {
    guard let item = state.queue[id], item.mode == .lazy, item.state == .queued, !item.everSent,
      let object = item.object
    else { return nil }
    let later = state.queue.held.filter { $0.place > item.place }
    let alike = later.firstIndex { other in
      other.mode == .lazy && other.state == .queued && !other.everSent
        && other.object == object && other.operation == item.operation
        && other.footprint.creates == item.footprint.creates
    }
    guard let next = alike.map({ later[$0] }) else { return nil }
    let isConflicting = later.prefix { $0.id != next.id }.contains {
      $0.footprint.conflicts(with: next.footprint)
    }
    return isConflicting ? nil : next.id
  }

  private func possibleOutcomes(of item: Mutation) -> [SendOutcome] {
    let created = Dictionary(
      uniqueKeysWithValues: item.footprint.creates.map { ($0.id, ExploredKind.real) })
    let common: [SendOutcome] = [
      .applied(created: created), .notSent(isAway: true), .authRefused, .anonymousRefused,
      .transient(retryAfter: nil), .permanent, .unknown,
    ]
    if item.step == .verify { return common + [.foundMissing] }
    return item.footprint.creates.isEmpty ? common : common + [.applied(created: [:])]
  }

  private mutating func commands(in state: State) -> [State] {
    var after: [State] = []
    for item in state.queue.held {
      if isWide, let changes = try? state.queue.cancelling(item.id, at: state.now) {
        after.append(commit(changes, to: state, ending: item.id, .command("cancel", item.id)))
      }
      if isWide, let changes = try? state.queue.discarding(item.id, at: state.now) {
        after.append(commit(changes, to: state, ending: item.id, .command("discard", item.id)))
      }
      if item.state == .parked,
        let changes = try? state.queue.retrying(item.id, at: state.now, policy: policy)
      {
        after.append(commit(changes, to: state, .command("retry", item.id)))
      }
      if item.state == .expired {
        let changes = state.queue.arming(
          item, known: state.known, at: state.now, policy: policy)
        after.append(commit(changes, to: state, .command("arm", item.id)))
      }
    }
    if state.queue.control.needsCredential {
      after.append(commit(state.queue.authenticated(), to: state, .happened("token")))
    }
    let crash = state.queue.recovering(
      boot: "next", at: state.now, policy: policy, using: &random)
    if !crash.isEmpty { after.append(commit(crash, to: state, endsAny: true, .happened("crash"))) }
    if state.queue.held.contains(where: { $0.isArmed(at: state.now) && $0.state == .queued }) {
      var late = state
      late.now = state.now.advanced(by: policy.forceDeadline)
      let lapse = late.queue.lapses(at: late.now, using: &random)
      after.append(commit(lapse, to: late, .happened("deadline")))
    }
    return after
  }

  /// Applies changes, checks the invariants of the step, and lets back-off and spacing pass.
  private mutating func commit(
    _ changes: QueueChanges, to state: State, ending ended: MutationID? = nil,
    endsAny: Bool = false, _ what: ExploredStep.What
  ) -> State {
    stepCount += 1
    var after = state
    after.trail = ExploredStep(what: what, before: state.trail)
    after.queue.apply(changes)
    if !changes.resolved.isEmpty { after.known.merge(changes.resolved) { $1 } }
    for mutation in changes.updated where mutation.id != ended && !endsAny {
      guard let before = state.queue[mutation.id], before.isFrozen else { continue }
      let isKept =
        mutation.place == before.place && (!mutation.state.isFinished || before.state == .expired)
      if !isKept { faults.append("\(mutation.id) was sent and is changed: \(trace(after))") }
    }
    after.now = after.now.advanced(by: .seconds(1))
    if changes.updated.contains(where: { $0.due.reason == .backOff }) {
      after.queue.apply(after.queue.flushing(at: after.now))
    }
    return after
  }

  private mutating func check(_ state: State) {
    let outlook = state.queue.schedule(at: state.now, policy: policy)
    let reloaded = DeviceQueue(
      device: "phone", control: state.queue.control, held: state.queue.held)
    if reloaded.schedule(at: state.now, policy: policy) != outlook {
      faults.append("the schedule differs after loading it again: \(trace(state))")
    }
    if let wake = outlook.wake, wake <= state.now {
      faults.append("wakes in the past: \(trace(state))")
    }
    for item in state.queue.held
    where !item.footprint.needs.filter({ state.known[$0] != nil }).isEmpty {
      faults.append("\(item.id) waits for a temporary id that is known: \(trace(state))")
    }
    let isFlying = state.queue.held.contains { $0.state == .inflight }
    if checksHeads {
      let heads = QueueHeads(whole: state.queue, now: state.now, policy: policy)
      faults += heads.faults.map { "\($0): \(trace(state))" }
    }
    guard outlook.ready.isEmpty, !isFlying, !state.queue.control.needsCredential else { return }
    for item in state.queue.held where item.state == .queued {
      if !OrderRule.isExcused(item, among: state.queue.held) {
        faults.append("\(item.id) stalls: \(trace(state))")
      }
    }
  }

  private func trace(_ state: State) -> String {
    state.trail?.description ?? "from the start"
  }

  /// The facts that determine the future of a state, in few bits, since walks have millions.
  private func fingerprint(_ state: State) -> UInt128 {
    var bits: UInt128 = 1
    func add(_ value: some BinaryInteger, of width: Int) {
      precondition(value >= 0 && value < 1 << width && bits >> (128 - width) == 0)
      bits = bits << width | UInt128(value)
    }
    add(state.operationsLeft, of: 4)
    add(state.isNewAsked ? 1 : 0, of: 1)
    add(state.known.isEmpty ? 0 : 1, of: 1)
    add(state.queue.control.needsCredential ? 1 : 0, of: 1)
    for item in state.queue.held {
      add(state.kinds[item.id]?.rawValue ?? 15, of: 4)
      add(MutationState.allCases.firstIndex(of: item.state) ?? 15, of: 4)
      add(item.everSent ? 1 : 0, of: 1)
      add(item.step == .verify ? 1 : 0, of: 1)
      add(item.isArmed(at: state.now) ? 1 : 0, of: 1)
      add(item.object?.key == ExploredKind.real.key ? 1 : 0, of: 1)
    }
    return bits
  }
}
