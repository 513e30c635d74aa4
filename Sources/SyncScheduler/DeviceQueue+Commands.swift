package import Model

extension DeviceQueue {
  /// Cancels a mutation that was never sent.
  package func cancelling(
    _ id: MutationID, at now: Timestamp
  ) throws(CommandRefusal) -> QueueChanges {
    var item = try held(id)
    guard !item.isFrozen else { throw .alreadySent }
    guard !item.state.isFinished else { throw .wrongState(item.state) }
    item.state = .cancelled
    return ending(item, at: now)
  }

  /// Queues a parked mutation again, or ends the back-off of a waiting one.
  package func retrying(
    _ id: MutationID, at now: Timestamp, policy: QueuePolicy
  ) throws(CommandRefusal) -> QueueChanges {
    var item = try held(id)
    switch item.state {
    case .parked:
      item.state = .queued
      item.reason = nil
      item.strikes = 0
      item.due = DueTime(now, .atOnce)
      item.expires = max(item.expires, now.advanced(by: policy.expiry))
    case .queued:
      guard item.due.reason != .retryAfter else { return QueueChanges() }
      item.due = DueTime(now, .atOnce)
    default: throw .wrongState(item.state)
    }
    return QueueChanges(updated: [item])
  }

  /// Discards a parked mutation.
  package func discarding(
    _ id: MutationID, at now: Timestamp
  ) throws(CommandRefusal) -> QueueChanges {
    var item = try held(id)
    guard item.state == .parked else { throw .wrongState(item.state) }
    item.state = .discarded
    return ending(item, at: now)
  }

  package func pausing() -> QueueChanges {
    var control = control
    control.isPaused = true
    return QueueChanges(control: control)
  }

  /// Refuses a command without effect: after *resume* or *flush* the queue would still wait for a
  /// credential.
  package func admit(_ command: QueueCommand) throws(CommandRefusal) {
    guard control.needsCredential,
      waitingUpstreams.allSatisfy({ control.needsCredential(for: $0) })
    else { return }
    switch command {
    case .resume where control.isPaused: return
    case .resume, .flush: throw .needsCredential
    case .pause, .cancel, .retry, .discard, .signOut: return
    }
  }

  package func resuming() -> QueueChanges {
    var control = control
    control.isPaused = false
    return QueueChanges(control: control)
  }

  /// Lets the queue continue after the device presented a token other than the refused one.
  ///
  /// - Parameter upstream: the upstream that the token is for; nil for all.
  package func authenticated(for upstream: String? = nil) -> QueueChanges {
    guard control.needsCredential else { return QueueChanges() }
    var control = control
    control.renew(for: upstream)
    return QueueChanges(control: control)
  }

  /// Ends debounce and back-off; a `Retry-After` of upstream stays.
  package func flushing(at now: Timestamp) -> QueueChanges {
    QueueChanges(
      updated: held.compactMap { item in
        guard item.state == .queued, [.debounce, .backOff].contains(item.due.reason),
          item.due.time > now
        else { return nil }
        var item = item
        item.due = DueTime(now, .atOnce)
        return item
      })
  }

  /// Applies the sign-out policy after the device's user signed out. Mutations in flight always run to
  /// their end.
  package func signingOut(_ policy: SignOutPolicy) -> QueueChanges {
    guard policy != .drain else { return QueueChanges() }
    return QueueChanges(
      updated: held.compactMap { item in
        guard item.state == .queued || item.state == .parked else { return nil }
        var item = item
        if policy == .drop, !item.isFrozen {
          item.state = .discarded
          item.reason = .signedOut
        } else if item.state == .queued || item.reason == .operationChanged {
          // If the operation comes back it must not send mutations of a signed-out user.
          item.park(.signedOut)
        } else {
          return nil
        }
        return item
      })
  }

  private func held(_ id: MutationID) throws(CommandRefusal) -> Mutation {
    guard let item = self[id] else { throw .notHeld }
    return item
  }

  private func ending(_ item: Mutation, at now: Timestamp) -> QueueChanges {
    var cancellation = DependencyCancellation(queue: self, now: now)
    cancellation.lose(item)
    return QueueChanges(updated: [item] + cancellation.cancelled)
  }
}

extension DeviceQueue {
  /// Adapts a queue to changed operations: mutations that do not fit are parked and block only
  /// conflicting ones; those that fit again are queued.
  ///
  /// - Parameters:
  ///   - misfits: queued mutations whose operation is gone or does not accept their variables.
  ///   - fitting: mutations that fit; only those parked for that reason change.
  ///   - moved: mutations whose operation belongs to another upstream now, with its name.
  package func reviewing(
    misfits: some Sequence<MutationID>, fitting: some Sequence<MutationID>,
    moved: [MutationID: String] = [:], at now: Timestamp, policy: QueuePolicy
  ) -> QueueChanges {
    var later = self
    var changes = QueueChanges()
    for (id, upstream) in moved.sorted(by: { $0.key.value < $1.key.value }) {
      guard let item = later[id] else { continue }
      changes.updated.append(item.moved(to: upstream))
    }
    later.apply(changes)
    changes.merge(
      later.judging(misfits: misfits, fitting: fitting, at: now, policy: policy))
    return changes
  }

  private func judging(
    misfits: some Sequence<MutationID>, fitting: some Sequence<MutationID>, at now: Timestamp,
    policy: QueuePolicy
  ) -> QueueChanges {
    var changes = QueueChanges()
    for id in misfits {
      guard var item = self[id], item.state == .queued else { continue }
      item.waitForOperation()
      changes.updated.append(item)
    }
    for id in fitting {
      guard var item = self[id], item.state == .parked, item.reason == .operationChanged else {
        continue
      }
      item.state = .queued
      item.reason = nil
      item.due = DueTime(now, .atOnce)
      // The wait was not its fault: it gets its full time again, as after a retry by the client.
      item.expires = max(item.expires, now.advanced(by: policy.expiry))
      changes.updated.append(item)
    }
    return changes
  }
}

extension Mutation {
  /// Returns the mutation with another upstream: the present one of its operation.
  fileprivate func moved(to upstream: String) -> Mutation {
    var moved = self
    moved.submission = submission.moved(to: upstream)
    return moved
  }

  /// Parks the mutation; a forced one that was never sent expires, since only its key can arm it
  /// again.
  mutating func waitForOperation() {
    if mode == .force, !everSent {
      state = .expired
      reason = .operationChanged
    } else {
      park(.operationChanged)
    }
  }
}
