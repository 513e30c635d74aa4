import Model

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

  /// The unique key decides: there is no moment at which two of the same could both be new, since
  /// commands run one after the other.
  private func enqueue(_ arrival: NewMutation, index: Int) throws -> MutationReceipt {
    if let known = try rows.find(key: arrival.key, of: device) {
      switch known.reuse(of: arrival.fingerprint, at: timing.now) {
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
    let mutation = try mutation(arrival, expecting: payload.overlays)
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

  /// The unfinished ones before a forced one that it must wait for, those they wait for included.
  private func promoted(by mutation: Mutation) -> [MutationID] {
    guard mutation.mode == .force, !mutation.overtakesAll else { return [] }
    return decide { queue in
      var reached = [mutation.footprint]
      var found: [MutationID] = []
      for other in queue.held.reversed()
      where other.place < mutation.place && other.state == .queued {
        guard reached.contains(where: { $0.meets(other.footprint) }) else { continue }
        reached.append(other.footprint)
        found.append(other.id)
      }
      return found.reversed()
    }
  }

  /// Who hands over may not have heard yet what its temporary ids stand for: what it expects lies
  /// over the real entities all the same.
  private func resolved(_ payload: MutationPayload) throws -> MutationPayload {
    let named = payload.overlays.reduce(into: Set()) { $0.formUnion($1.temporaryIDs) }
    let known = try temporaryIDs.find(named)
    return known.isEmpty ? payload : payload.expecting(payload.overlays.map { $0.resolving(known) })
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

  private func mutation(
    _ arrival: NewMutation, expecting overlays: [OverlayChange]
  ) throws -> Mutation {
    let replaced = try OverlayReferences(context, device: device, under: arrival.payload.scope)
      .keys(in: overlays)
    let longest = timing.now.advanced(by: timing.policy.expiry)
    let wanted = arrival.expiresIn.map { timing.now.advanced(by: $0) } ?? longest
    return Mutation(
      id: arrival.id, device: device, key: arrival.key, fingerprint: arrival.fingerprint,
      operation: arrival.operation, upstream: arrival.upstream, mode: arrival.mode,
      effect: arrival.effect, unknownRule: arrival.unknownRule,
      overtakesAll: arrival.overtakesAll, object: arrival.object,
      footprint: Footprint(
        object: arrival.object, references: arrival.references + replaced,
        mentions: arrival.mentions, creates: arrival.creates),
      sequence: try nextSequence(), now: timing.now, expires: min(longest, wanted))
  }
}
