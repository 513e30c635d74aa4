extension DeviceQueue {
  /// What becomes of an arriving mutation: appended, put in the place of one it replaces, or
  /// annihilated with the create it deletes.
  ///
  /// - Parameters:
  ///   - arriving: as ``Mutation/init`` makes it; its `expires` no later than the policy allows.
  ///   - known: the device's temporary ids that are resolved, of those it mentions.
  package func enqueuing(
    _ arriving: Mutation, known: [TemporaryID: EntityKey] = [:], at now: Timestamp,
    policy: QueuePolicy
  ) throws(EnqueueRefusal) -> EnqueueDecision {
    var arriving = arriving.resolving(known)
    if arriving.mode == .force {
      arriving.armedUntil = now.advanced(by: policy.forceDeadline)
    }
    switch arriving.mode == .lazy ? fate(ofLazy: arriving) : .appended {
    case .refused(let deletion):
      throw .objectDeleted(by: deletion.id)
    case .annihilated(let create):
      return annihilating(create, with: arriving)
    case .replaces(let old):
      return replacing(old, with: arriving, at: now, policy: policy)
    case .appended:
      guard pendingCount + parkedCount < policy.itemsMax else {
        throw .queueFull(itemsMax: policy.itemsMax)
      }
      return appending(arriving, at: now, policy: policy)
    }
  }

  /// Arms a forced one again whose key came again (``KeyReuse/arm``).
  ///
  /// It keeps its place: what came since and meets it was asked for later. Only what may have
  /// reached upstream meanwhile still goes before it.
  ///
  /// - Parameter known: the device's temporary ids that are resolved, of those it mentions.
  package func arming(
    _ mutation: Mutation, known: [TemporaryID: EntityKey] = [:], at now: Timestamp,
    policy: QueuePolicy
  ) -> QueueChanges {
    var armed = mutation.resolving(known)
    armed.armedUntil = now.advanced(by: policy.forceDeadline)
    if armed.state == .expired {
      armed.state = .queued
      armed.reason = nil
      armed.due = DueTime(now, .atOnce)
      armed.ended = nil
      armed.expires = max(armed.expires, now.advanced(by: policy.expiry))
    }
    return QueueChanges(updated: [armed])
  }

  private enum LazyFate {
    case refused(by: Mutation)
    case annihilated(Mutation)
    case replaces(Mutation)
    case appended
  }

  private func fate(ofLazy arriving: Mutation) -> LazyFate {
    guard let object = arriving.object else { return .appended }
    let there = line.items(touching: Footprint.Token(object)).filter {
      $0.object == object && !$0.state.isFinished
    }
    if arriving.effect != .delete, let deletion = there.last(where: { $0.effect == .delete }) {
      return .refused(by: deletion)
    }
    if arriving.effect == .delete, let create = there.first, canAnnihilate(create, with: arriving) {
      return .annihilated(create)
    }
    // The latest alone: an earlier one of its kind is met by the later.
    if let latest = there.last(where: { $0.isReplaceable(by: arriving) }),
      !isMet(latest, by: arriving.footprint), isCreatingNothingLost(latest, in: arriving)
    {
      return .replaces(latest)
    }
    return .appended
  }

  /// Nobody else may mention what it creates: its object and its ids are touched by it alone.
  private func canAnnihilate(_ create: Mutation, with deletion: Mutation) -> Bool {
    guard create.effect == .create, create.mode == .lazy, create.state == .queued,
      !create.isFrozen, let object = create.object
    else { return false }
    let made = create.footprint.creates.map { Footprint.Token.temporary($0.id) }
    return (made + [Footprint.Token(object)]).allSatisfy {
      line.places(touching: $0).count == 1
    }
  }

  private func annihilating(_ create: Mutation, with deletion: Mutation) -> EnqueueDecision {
    var create = create
    var deletion = deletion
    create.state = .annihilated
    deletion.state = .annihilated
    return EnqueueDecision(
      changes: QueueChanges(inserted: [deletion], updated: [create]), mutation: deletion)
  }

  private func replacing(
    _ old: Mutation, with arriving: Mutation, at now: Timestamp, policy: QueuePolicy
  ) -> EnqueueDecision {
    var arriving = arriving
    arriving.place = old.place
    arriving.gatheredSince = old.gatheredSince
    let decision = appending(arriving, at: now, policy: policy)
    var absorbed = old
    absorbed.state = .superseded
    absorbed.supersededBy = arriving.id
    var changes = decision.changes
    changes.merge(QueueChanges(updated: [absorbed]))
    return EnqueueDecision(changes: changes, mutation: decision.mutation, supersedes: old.id)
  }

  private func appending(
    _ arriving: Mutation, at now: Timestamp, policy: QueuePolicy
  ) -> EnqueueDecision {
    var arriving = arriving
    if arriving.mode == .lazy, policy.debounce > .zero {
      let bound = arriving.gatheredSince.advanced(
        by: policy.debounce * Int(QueuePolicy.debounceFactorMax))
      arriving.due = DueTime(min(now.advanced(by: policy.debounce), bound), .debounce)
    }
    return EnqueueDecision(
      changes: QueueChanges(inserted: [arriving], updated: hastened(by: arriving, at: now)),
      mutation: arriving)
  }

  /// Those before it that wait for more of their kind only: what meets them waits for them now.
  private func hastened(by arriving: Mutation, at now: Timestamp) -> [Mutation] {
    var places: Set<Int64> = []
    for token in arriving.footprint.tokens {
      places.formUnion(line.places(touching: token).before(arriving.place))
    }
    return places.sorted().compactMap { place in
      guard var item = line[place], item.state == .queued, item.due.reason == .debounce else {
        return nil
      }
      item.due = DueTime(now, .atOnce)
      return item
    }
  }
}
