package import Model

extension DeviceQueue {
  /// Enqueues a mutation: appended, in the place of one that it replaces, or annihilated with the
  /// create that it deletes.
  ///
  /// - Parameters:
  ///   - arriving: a new ``Mutation``; its `expires` no later than the policy allows.
  ///   - known: the resolved ones of the temporary ids that it mentions.
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

  /// Arms a forced mutation again after a replay of its key (``KeyReuse/arm``).
  ///
  /// It keeps its place before conflicting mutations that came since, except those that may have
  /// reached upstream in the meantime.
  ///
  /// - Parameter known: the resolved ones of the temporary ids that it mentions.
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
    // Only the latest: an earlier one of its kind conflicts with the later.
    if let latest = there.last(where: { $0.isReplaceable(by: arriving) }),
      !hasLaterConflict(latest, by: arriving.footprint), losesNoTemporaryIDs(latest, in: arriving)
    {
      return .replaces(latest)
    }
    return .appended
  }

  /// Returns whether the pair can be annihilated: no other mutation touches the create's object and
  /// ids.
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

  /// Returns the debounced mutations before it that conflict with it, now due at once since it waits
  /// for them.
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

/// Coalescing after an attempt that sent nothing: it counts as never made, so a mutation that arrived
/// in the meantime is merged as if it arrived now.
extension DeviceQueue {
  /// - Parameter item: queued again after its attempt.
  func gathering(into item: Mutation) -> QueueChanges {
    let changes = QueueChanges(updated: [item])
    guard item.mode == .lazy, item.state == .queued, !item.isFrozen, let object = item.object
    else { return changes }
    let later = line.places(touching: Footprint.Token(object)).from(item.place + 1)
      .compactMap { line[$0] }
      .filter { $0.mode == .lazy && $0.object == object && $0.state == .queued && !$0.isFrozen }
    guard let next = later.first else { return changes }
    if next.effect == .delete, isAnnihilated(item, by: next) {
      return QueueChanges(updated: [item, next].map(Self.annihilated))
    }
    guard item.isReplaceable(by: next),
      !hasLaterConflict(item, by: next.footprint, before: next.place),
      losesNoTemporaryIDs(item, in: next)
    else { return changes }
    return QueueChanges(updated: replacing(item, with: next))
  }

  /// Replaces the earlier mutation: the later one takes its place, and waits at least as long.
  private func replacing(_ item: Mutation, with next: Mutation) -> [Mutation] {
    var superseded = item
    superseded.state = .superseded
    superseded.supersededBy = next.id
    var successor = next
    successor.place = item.place
    successor.gatheredSince = item.gatheredSince
    if item.due.reason == .backOff, item.due.time > next.due.time { successor.due = item.due }
    return [superseded, successor]
  }

  /// Returns whether only the two touch the create's object and ids.
  private func isAnnihilated(_ create: Mutation, by deletion: Mutation) -> Bool {
    guard create.effect == .create, let object = create.object else { return false }
    let made = create.footprint.creates.map { Footprint.Token.temporary($0.id) }
    return (made + [Footprint.Token(object)]).allSatisfy { token in
      line.places(touching: token).values.allSatisfy {
        $0 == create.place || $0 == deletion.place
      }
    }
  }

  private static func annihilated(_ item: Mutation) -> Mutation {
    var item = item
    item.state = .annihilated
    return item
  }
}
