import GRDB
import LosslessJSON
import Model

/// A device's queue inside one command of the writer: it is asked for decisions, and what they
/// change is written here, whole.
struct QueueLedger {
  let context: WriteContext
  let device: String
  let timing: QueueTiming
  let rows: MutationRows
  let overlays: OverlayRows
  private let outcomes: OutcomeRows

  /// - Parameter readsAll: whether all of the queue is asked about, not only what goes next.
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

  /// A decision about the queue as it stands.
  func decide<Answer, Refusal: Error>(
    _ body: (DeviceQueue) throws(Refusal) -> Answer
  ) throws(Refusal) -> Answer {
    try body(context.memory.queues[device] ?? DeviceQueue(device: device))
  }

  func outlook() throws -> QueueSchedule {
    try readEnough()
    return decide { $0.outlook(at: timing.now, policy: timing.policy) }
  }

  var needsCredential: Bool { decide { $0.control.needsCredential } }

  var temporaryIDs: TemporaryIDRows {
    TemporaryIDRows(database: context.database, device: device)
  }

  /// The number of the next mutation to arrive.
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

  /// What the passing of time has ended.
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

  /// - Parameters:
  ///   - payloads: of those that arrive, or are armed again.
  ///   - armed: the one that is armed again, as it was: the queue may hold it no more.
  ///   - results: the responses and problems of mutations that ended or were parked.
  ///   - lingering: the one whose overlay stays although it is finished.
  func write(
    _ changes: QueueChanges, payloads: [MutationID: MutationPayload] = [:],
    armed: Mutation? = nil,
    results: [MutationID: [UInt8]] = [:], lingering: MutationID? = nil
  ) throws {
    if !changes.resolved.isEmpty {
      try temporaryIDs.insert(changes.resolved, at: timing.now)
      try overlays.resolve(changes.resolved)
    }
    // First those in whose stead another goes: an end of that one is told of them too.
    let superseded = changes.updated.filter { $0.state == .superseded }
    for mutation in superseded + changes.updated.filter({ $0.state != .superseded }) {
      let held = decide { $0[mutation.id] }
      let before = mutation.id == armed?.id ? armed?.state : held?.state
      try rows.update(mutation)
      if let held, held.place != mutation.place {
        try overlays.move(mutation.id, to: mutation.place)
      }
      if let result = results[mutation.id] {
        try rows.setResult(result, of: mutation.id)
      } else if before == .parked, mutation.state == .queued {
        // The problem that parked it is over.
        try rows.setResult(nil, of: mutation.id)
      }
      if let payload = payloads[mutation.id] { try arm(mutation, payload) }
      guard mutation.state != before else { continue }
      try end(mutation, keepsOverlay: lingering == mutation.id)
      try tell(mutation, before: before, resolved: changes.resolved)
    }
    for mutation in changes.inserted {
      guard let payload = payloads[mutation.id] else { continue }
      let scope = try context.memory.scopeID(payload.scope, context.database)
      try rows.insert(mutation, payload, scope: scope)
      if mutation.state.showsOverlay {
        try overlays.add(payload.overlays, of: mutation.id, place: mutation.place)
      }
      if mutation.state.isFinished { try end(mutation, keepsOverlay: false) }
      try tell(mutation, before: nil, resolved: [:])
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

  /// Tells the client of an end, and of what takes one back. The same end is told of all those in
  /// whose stead it went.
  private func tell(
    _ mutation: Mutation, before: MutationState?, resolved: [TemporaryID: EntityKey]
  ) throws {
    let isUnderWay = mutation.state == .queued || mutation.state == .inflight
    let wasTold = before.map { $0 != .queued && $0 != .inflight } ?? false
    guard !isUnderWay || wasTold else { return }
    let result = try rows.result(of: mutation.id)
    try outcomes.write(
      MutationDocument.bytes(
        MutationRecord(
          mutation: mutation, settled: mutation.state.isFinished ? timing.now : nil,
          result: result, sharedState: nil,
          resolved: resolved.filter { mutation.footprint.isCreating($0.key) }),
        withResponse: false),
      of: mutation.id)
    guard mutation.state != .superseded else { return }
    var shared = try rows.superseded(by: mutation.id)
    while let other = shared.popLast() {
      let record = MutationRecord(
        mutation: other, settled: timing.now, result: result, sharedState: mutation.state,
        resolved: [:])
      try outcomes.write(MutationDocument.bytes(record, withResponse: false), of: other.id)
      shared += try rows.superseded(by: other.id)
    }
  }

  private func save(_ control: QueueControl) throws {
    let statement = try PreparedStatement(
      context.database,
      "INSERT OR REPLACE INTO queue (device, is_paused, needs_credential) VALUES (?1, ?2, ?3)")
    statement.bind(device, at: 1)
    statement.bind(control.isPaused ? 1 : 0, at: 2)
    statement.bind(
      control.isUnreadable ? QueueRows.unreadable : control.needsCredential ? 1 : 0, at: 3)
    try statement.run()
  }
}
