import GRDB
import LosslessJSON
import Model
import SyncScheduler

/// A device's queue inside one command of the writer: asks it for decisions and writes the changes
/// they lead to.
struct QueueLedger {
  let context: WriteContext
  let device: String
  let timing: QueueTiming
  let rows: MutationRows
  let overlays: OverlayRows
  private let outcomes: OutcomeRows

  /// Loads the queue unless the writer's memory has it.
  ///
  /// - Parameter readsAll: whether the whole queue is needed, not only what is sent next.
  init(
    _ context: WriteContext, device: String, timing: QueueTiming, readsAll: Bool
  ) throws {
    self.context = context
    self.device = device
    self.timing = timing
    rows = MutationRows(database: context.database)
    overlays = OverlayRows(context, device: device, now: timing.now)
    outcomes = OutcomeRows(context, device: device, now: timing.now)
    if !context.memory.queues.contains(device) {
      let limit = readsAll ? .max : context.memory.queues.headLength
      context.memory.queues.keep(try load(limit: limit))
    } else if readsAll {
      try readAll()
    }
  }

  /// Asks the queue in its current state for a decision.
  func decide<Output, Refusal: Error>(
    _ body: (DeviceQueue) throws(Refusal) -> Output
  ) throws(Refusal) -> Output {
    try body(context.memory.queues[device] ?? DeviceQueue(device: device))
  }

  /// What the queue can send. That of a disabled account sends nothing.
  func outlook() throws -> QueueSchedule {
    try readEnough()
    let schedule = decide { $0.schedule(at: timing.now, policy: timing.policy) }
    guard !schedule.ready.isEmpty, try isDisabled() else { return schedule }
    return QueueSchedule(ready: [], wake: schedule.wake, number: schedule.number)
  }

  /// Whether an operator has disabled the account that the device belongs to.
  func isDisabled() throws -> Bool {
    try DisabledAccountTable(database: context.database).holds(device: device)
  }

  var control: QueueControl { decide { $0.control } }

  var temporaryIDs: TemporaryIDRows {
    TemporaryIDRows(database: context.database, device: device)
  }

  /// Returns the sequence number of the next mutation to arrive.
  func nextSequence() throws -> Int64 {
    let memory = context.memory
    if memory.queues.lastSequence == nil {
      let statement = try PreparedStatement(
        context.database, "SELECT coalesce(max(sequence), 0) FROM mutation")
      memory.queues.lastSequence = try statement.step() ? statement.int64(0) : 0
      statement.reset()
    }
    let next = (memory.queues.lastSequence ?? 0) + 1
    memory.queues.lastSequence = next
    return next
  }

  /// Applies the changes that are due with the passing of time.
  func lapse() throws {
    try readEnough()
    var random = timing.generator
    let changes = decide {
      $0.lapses(at: timing.now, using: &random)
    }
    guard !changes.isEmpty else { return }
    try write(changes)
    try readEnough()
  }

  // MARK: Writing

  /// Writes the changes of a decision.
  ///
  /// - Parameters:
  ///   - payloads: payloads of mutations that arrive or are armed again.
  ///   - armed: the previous state of a mutation that is armed again, if the queue no longer holds it.
  ///   - results: the responses and problems of mutations that ended or were parked.
  ///   - lingering: the finished mutation whose overlay stays.
  func write(
    _ changes: QueueChanges, payloads: [MutationID: MutationPayload] = [:],
    armed: Mutation? = nil,
    results: [MutationID: [UInt8]] = [:], lingering: MutationID? = nil
  ) throws {
    if !changes.resolved.isEmpty {
      try temporaryIDs.insert(changes.resolved, at: timing.now)
      try overlays.resolve(changes.resolved)
    }
    // Superseded mutations first: the end of the one that superseded them is reported to them too.
    let superseded = changes.updated.filter { $0.state == .superseded }
    for mutation in superseded + changes.updated.filter({ $0.state != .superseded }) {
      let held = decide { $0[mutation.id] }
      let before = mutation.id == armed?.id ? armed?.state : held?.state
      try rows.update(mutation)
      if let held, held.upstream != mutation.upstream {
        try rows.setUpstream(mutation.upstream, of: mutation.id)
      }
      if let held, held.place != mutation.place {
        try overlays.move(mutation.id, to: mutation.place)
      }
      if let result = results[mutation.id] {
        try rows.setResult(result, of: mutation.id)
      } else if before == .parked, mutation.state == .queued {
        // The problem that parked it is resolved.
        try rows.setResult(nil, of: mutation.id)
      }
      if let payload = payloads[mutation.id] { try arm(mutation, payload) }
      guard mutation.state != before else { continue }
      try end(mutation, keepsOverlay: lingering == mutation.id)
      try report(mutation, before: before, resolved: changes.resolved)
    }
    for mutation in changes.inserted {
      guard let payload = payloads[mutation.id] else { continue }
      let scope = try context.memory.scopeID(payload.scope, context.database)
      try rows.insert(mutation, payload, scope: scope)
      if mutation.state.showsOverlay {
        try overlays.add(payload.overlays, of: mutation.id, place: mutation.place)
      }
      if let result = results[mutation.id] { try rows.setResult(result, of: mutation.id) }
      if mutation.state.isFinished { try end(mutation, keepsOverlay: false) }
      try report(mutation, before: nil, resolved: [:])
    }
    if let control = changes.control { try save(control) }
    context.memory.queues.apply(changes, to: device)
    context.noteQueue(of: device)
  }

  private func arm(_ mutation: Mutation, _ payload: MutationPayload) throws {
    try rows.setCredential(payload.sealedCredential, of: mutation.id)
    try overlays.remove(of: mutation.id)
    try overlays.add(payload.overlays, of: mutation.id, place: mutation.place)
  }

  private func end(_ mutation: Mutation, keepsOverlay: Bool) throws {
    guard mutation.state.isFinished else {
      return try rows.setSettled(nil, of: mutation.id)
    }
    if !keepsOverlay { try overlays.remove(of: mutation.id) }
    try rows.setCredential(nil, of: mutation.id)
    try rows.setSettled(timing.now, of: mutation.id)
  }

  /// Writes the outcome for the client when a mutation ends or an end is taken back. Mutations it
  /// superseded get the same outcome.
  private func report(
    _ mutation: Mutation, before: MutationState?, resolved: [TemporaryID: EntityKey]
  ) throws {
    let isUnderWay = mutation.state == .queued || mutation.state == .inflight
    let wasReported = before.map { $0 != .queued && $0 != .inflight } ?? false
    guard !isUnderWay || wasReported else { return }
    let result = try rows.result(of: mutation.id)
    try outcomes.write(
      MutationRecord(
        mutation: mutation, settled: mutation.state.isFinished ? timing.now : nil, result: result,
        resolved: resolved.filter { mutation.footprint.isCreating($0.key) }
      ).json(withResponse: false),
      of: mutation.id)
    try notifyHooks(of: mutation, result: result)
    guard mutation.state != .superseded else { return }
    var shared = try rows.superseded(by: mutation.id)
    while let other = shared.popLast() {
      let record = MutationRecord(
        mutation: other, settled: timing.now, result: result, sharedState: mutation.state)
      try outcomes.write(record.json(withResponse: false), of: other.id)
      shared += try rows.superseded(by: other.id)
    }
  }

  /// Writes the events of hooks that are called after this outcome. Lists of local writes have none: the
  /// hooks of their types are called.
  private func notifyHooks(of mutation: Mutation, result: [UInt8]?) throws {
    guard let hooks = context.memory.hooks, !mutation.isLocalWrite,
      let state = SettledOutcome.State(rawValue: mutation.state.rawValue),
      hooks.hasHooks(for: .outcome(operation: mutation.operation, state))
    else { return }
    let outcome = SettledOutcome(
      id: mutation.id.value, operation: mutation.operation, state: state,
      reason: mutation.reason?.rawValue, object: mutation.object, result: result, device: device,
      user: try rows.payload(of: mutation.id)?.user)
    try hooks.write(outcome, in: context, at: timing.now)
  }

  private func save(_ control: QueueControl) throws {
    let statement = try PreparedStatement(
      context.database,
      """
      INSERT OR REPLACE INTO queue (device, is_paused, needs_credential, refusing) \
      VALUES (?1, ?2, ?3, ?4)
      """)
    statement.bind(device, at: 1)
    statement.bind(control.isPaused ? 1 : 0, at: 2)
    statement.bind(
      control.isUnreadable ? QueueRows.unreadable : control.needsCredential ? 1 : 0, at: 3)
    statement.bind(control.refusing.sorted().joined(separator: ","), at: 4)
    try statement.run()
  }
}

/// Reads as much of a queue as a decision needs: its first mutations, which decide what is sent
/// next, and more if these do not suffice.
extension QueueLedger {
  /// Loads a device's queue.
  ///
  /// - Parameter limit: mutations to read in the order of their places; the rest is read as far as
  ///   it matters.
  func load(limit: Int) throws -> DeviceQueue {
    let control = try QueueRows(database: context.database).control(of: device)
    var held = try rows.held(of: device, limit: limit == .max ? .max : limit + 1)
    guard held.count > limit, let end = held.popLast()?.place else {
      return DeviceQueue(device: device, control: control, held: held)
    }
    let remainder = try rows.remainder(of: device, from: end, timing: timing)
    return DeviceQueue(
      device: device, control: control, held: held + remainder.mustRead, tail: remainder.tail)
  }

  /// Reads on until the mutations in memory lead to the same decision as the whole queue would.
  func readEnough() throws {
    while decide({ $0.needsTail(at: timing.now, policy: timing.policy) }) {
      // Twice as many each time: a long queue whose first mutations all wait is soon read whole.
      try readOn(limit: max(context.memory.queues.headLength, decide { $0.held.count }))
    }
  }

  func readAll() throws {
    try readOn(limit: .max)
  }

  private func readOn(limit: Int) throws {
    guard let tail = decide({ $0.tail }) else { return }
    var more = try rows.held(
      of: device, from: tail.start, limit: limit == .max ? .max : limit + 1)
    let end = more.count > limit ? more.popLast()?.place : nil
    context.memory.queues.extend(device, by: more, tail: end.map(tail.from))
  }
}
