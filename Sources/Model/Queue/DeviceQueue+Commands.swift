extension DeviceQueue {
  /// Takes back what was never sent.
  package func cancelling(
    _ id: MutationID, at now: Timestamp
  ) throws(CommandRefusal) -> QueueChanges {
    var item = try held(id)
    guard !item.isFrozen else { throw .alreadySent }
    guard !item.state.isFinished else { throw .wrongState(item.state) }
    item.state = .cancelled
    return ending(item, at: now)
  }

  /// Lets a parked one go again, or ends the wait of one that backs off.
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

  /// Gives up a parked one.
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

  /// Refuses a word that would do nothing: whoever says *resume* or *flush* expects the queue to go
  /// on, and it waits for a credential.
  package func admit(_ command: QueueCommand) throws(CommandRefusal) {
    guard control.needsCredential else { return }
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

  /// The device presented a token other than the refused one: what waited for one goes again.
  package func authenticated() -> QueueChanges {
    guard control.needsCredential else { return QueueChanges() }
    var control = control
    control.needsCredential = false
    control.isUnreadable = false
    return QueueChanges(control: control)
  }

  /// Ends debounce and back-off; a time that upstream named stays.
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

  /// The device's user signed out. What is in flight runs to its end under every policy.
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
          // An operation that comes back must not send what its user left behind.
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
    var fall = DependencyCancellation(queue: self, now: now)
    fall.lose(item)
    return QueueChanges(updated: [item] + fall.fallen)
  }
}
