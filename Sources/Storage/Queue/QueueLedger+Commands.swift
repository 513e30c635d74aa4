import GRDB
import Model
import SyncScheduler

extension QueueLedger {
  /// Performs a client's or an operator's command.
  ///
  /// - Returns: the mutation that the command named.
  func perform(_ command: QueueCommand) throws -> Mutation? {
    try lapse()
    try decide { queue throws(CommandRefusal) in try queue.admit(command) }
    switch command {
    case .pause: try write(decide { $0.pausing() })
    case .resume: try write(decide { $0.resuming() })
    case .flush: try write(decide { $0.flushing(at: timing.now) })
    case .signOut(let policy): try write(decide { $0.signingOut(policy) })
    case .cancel(let id):
      return try write(id) { queue throws(CommandRefusal) in
        try queue.cancelling(id, at: timing.now)
      }
    case .retry(let id):
      return try write(id) { queue throws(CommandRefusal) in
        try queue.retrying(id, at: timing.now, policy: timing.policy)
      }
    case .discard(let id):
      return try write(id) { queue throws(CommandRefusal) in
        try queue.discarding(id, at: timing.now)
      }
    }
    return nil
  }

  private func write(
    _ id: MutationID, _ decision: (DeviceQueue) throws(CommandRefusal) -> QueueChanges
  ) throws -> Mutation? {
    let changes = try decide(decision)
    try write(changes)
    return changes.updated.first { $0.id == id } ?? decide { $0[id] }
  }

  /// Replaces the credential of held mutations of the same user, or of those without a verified
  /// user. If everything that waits belongs to another user, the queue goes on waiting.
  ///
  /// - Parameter upstream: the upstream that the credential is for; nil for all.
  func renewCredential(
    _ sealed: String, scope: Scope, user: String?, for upstream: String?
  ) throws {
    let number = try context.memory.scopeID(scope, context.database)
    let statement = try PreparedStatement(
      context.database,
      """
      UPDATE mutation SET user_credential = ?2, scope = ?3 \
      WHERE device = ?1 AND is_held AND user_credential IS NOT NULL AND owner IS ?4 \
      AND (?5 IS NULL OR upstream = ?5)
      """)
    statement.bind(device, at: 1)
    statement.bind(sealed, at: 2)
    statement.bind(number, at: 3)
    statement.bind(user.map { Array($0.utf8) }, at: 4)
    statement.bind(upstream.map { Array($0.utf8) }, at: 5)
    try statement.run()
    let isRenewed = context.database.changesCount > 0
    guard try isRenewed || !holdsCredential(for: upstream) else { return }
    try write(decide { $0.authenticated(for: upstream) })
  }

  private func holdsCredential(for upstream: String?) throws -> Bool {
    let statement = try PreparedStatement(
      context.database,
      """
      SELECT 1 FROM mutation WHERE device = ?1 AND is_held AND user_credential IS NOT NULL \
      AND (?2 IS NULL OR upstream = ?2) LIMIT 1
      """)
    statement.bind(device, at: 1)
    statement.bind(upstream.map { Array($0.utf8) }, at: 2)
    defer { statement.reset() }
    return try statement.step()
  }
}

extension QueueLedger {
  func enqueue(_ arrivals: [NewMutation]) throws -> [MutationReceipt] {
    guard try DeviceTable(database: context.database).exists(device) else {
      throw ArrivalRefusal.deviceGone
    }
    var receipts: [MutationReceipt] = []
    for (index, arrival) in arrivals.enumerated() {
      receipts.append(try enqueue(arrival, index: index))
    }
    return receipts
  }

  /// Enqueues one mutation. The unique key decides: commands run one after the other, so two
  /// mutations with the same key can never both be new.
  func enqueue(_ arrival: NewMutation, index: Int = 0) throws -> MutationReceipt {
    if let known = try rows.find(key: arrival.submission.key, of: device) {
      switch known.reuse(of: arrival.submission.fingerprint, at: timing.now) {
      case .conflict: throw ArrivalRefusal.keyReused(index: index)
      case .replay: return MutationReceipt(mutation: known, isReplay: true, supersedes: nil)
      case .arm: return try arm(known, try resolved(arrival.payload))
      }
    }
    let payload = try resolved(arrival.payload)
    let excess = try OwnerUsage(database: context.database).excess(
      of: .ownData(ofDevice: device), adding: payload.variables.utf8.count,
      under: timing.policy.quota)
    if let excess { throw ArrivalRefusal.overQuota(excess, index: index) }
    let mutation = try mutation(arrival, overlays: payload.overlays)
    let known = try temporaryIDs.find(mutation.footprint.needs)
    let decision: EnqueueDecision
    do throws(EnqueueRefusal) {
      decision = try decide { queue throws(EnqueueRefusal) in
        try queue.enqueuing(mutation, known: known, at: timing.now, policy: timing.policy)
      }
    } catch {
      throw ArrivalRefusal.refused(error, index: index)
    }
    try write(decision.changes, payloads: [mutation.id: payload])
    return MutationReceipt(
      mutation: decision.mutation, isReplay: false, supersedes: decision.supersedes,
      promoted: promoted(by: decision.mutation))
  }

  /// Returns the queued mutations that a forced one must wait for, including those that they wait
  /// for themselves.
  private func promoted(by mutation: Mutation) -> [MutationID] {
    guard mutation.mode == .force, !mutation.overtakesAll else { return [] }
    return decide { mutation.promoted(among: $0.held) }
  }

  /// Replaces known temporary ids in overlays by the real entities: the device that enqueues might
  /// not know yet what its temporary ids resolve to.
  private func resolved(_ payload: MutationPayload) throws -> MutationPayload {
    let named = payload.overlays.reduce(into: Set()) { $0.formUnion($1.temporaryIDs) }
    let known = try temporaryIDs.find(named)
    return known.isEmpty
      ? payload : payload.withOverlays(payload.overlays.map { $0.resolving(known) })
  }

  private func arm(_ known: Mutation, _ payload: MutationPayload) throws -> MutationReceipt {
    let ids = try temporaryIDs.find(known.footprint.needs)
    let changes = decide {
      $0.arming(known, known: ids, at: timing.now, policy: timing.policy)
    }
    try write(changes, payloads: [known.id: payload], armed: known)
    let armed = changes.updated.first { $0.id == known.id }
    return MutationReceipt(mutation: armed ?? known, isReplay: false, supersedes: nil)
  }

  func mutation(
    _ arrival: NewMutation, overlays: [OverlayChange]
  ) throws -> Mutation {
    let replaced = try OverlayReferences(context, device: device, under: arrival.payload.scope)
      .keys(in: overlays)
    let longest = timing.now.advanced(by: timing.policy.expiry)
    let wanted = arrival.expiresIn.map { timing.now.advanced(by: $0) } ?? longest
    return Mutation(
      arrival.submission.touching(replaced), device: device, sequence: try nextSequence(),
      now: timing.now, expires: min(longest, wanted))
  }
}
