package import Model

extension DeviceQueue {
  /// Settles an attempt.
  ///
  /// - Parameter othersSucceeded: when this mutation's upstream last completed another request, in
  ///   queue time: failures while others succeed make a mutation poison.
  /// - Returns: nil if the claim no longer holds; nothing changes then.
  package func settling(
    _ claim: MutationClaim, as outcome: SendOutcome, othersSucceeded: Timestamp?,
    at now: Timestamp, using random: inout some RandomNumberGenerator
  ) -> QueueChanges? {
    guard let item = self[claim.id], item.claim == claim else { return nil }
    return ending(
      item, as: outcome, othersSucceeded: othersSucceeded, at: now, using: &random)
  }

  /// Settles an attempt whose claim was checked, or that was lost.
  func ending(
    _ item: Mutation, as outcome: SendOutcome, othersSucceeded: Timestamp?, at now: Timestamp,
    using random: inout some RandomNumberGenerator
  ) -> QueueChanges {
    let strikes = strikes(of: item, othersSucceeded: othersSucceeded)
    var ended = item
    ended.state = .queued
    ended.boot = nil
    ended.ended = now
    ended.due = DueTime(now, .atOnce)
    switch outcome {
    case .notSent(let isAway):
      if !isAway { ended.backOff(at: now, using: &random) }
      return gathering(into: ended)
    case .authRefused:
      return refusing(ended, waitsForCredential: true, at: now)
    case .credentialUnreadable:
      return refusing(ended, waitsForCredential: true, isUnreadable: true, at: now)
    case .anonymousRefused:
      return refusing(ended, waitsForCredential: false, at: now)
    case .operationChanged:
      ended.waitForOperation()
      return QueueChanges(updated: [ended])
    case .applied(let created):
      ended.countAttempt()
      return applying(ended, created: created, at: now)
    case .transient(let retryAfter):
      ended.countAttempt()
      ended.backOff(at: now, retryAfter: retryAfter, using: &random)
      ended.strike(strikes)
    case .permanent where ended.step == .verify:
      ended.countAttempt()
      ended.park(.outcomeUnknown)
    case .permanent:
      ended.countAttempt()
      return rejecting(ended, .refused, at: now)
    case .dependencyMissing:
      return rejecting(ended, .dependency, at: now)
    case .unknown:
      ended.countAttempt()
      ended.followUnknown(at: now, using: &random)
      ended.strike(strikes)
    case .foundMissing:
      ended.countAttempt()
      ended.step = .send
      ended.backOff(at: now, using: &random)
    }
    return superseding(by: ended, QueueChanges(updated: [ended]))
  }

  /// Returns its strikes, plus one if upstream succeeded for others since its last attempt ended.
  private func strikes(of item: Mutation, othersSucceeded: Timestamp?) -> Int {
    guard let othersSucceeded, othersSucceeded >= item.ended ?? item.enqueued else {
      return item.strikes
    }
    return item.strikes + 1
  }

  /// Handles a refused credential. The queue waits for the device's next token; if none would help, only
  /// this mutation is parked. A forced one expires at once: its caller, who supplied the token, is
  /// waiting and can retry with the same key.
  private func refusing(
    _ item: Mutation, waitsForCredential: Bool, isUnreadable: Bool = false, at now: Timestamp
  ) -> QueueChanges {
    var item = item
    if item.step == .send, !isUnreadable { item.everSent = true }
    if item.step == .send, item.isArmed(at: now) || item.mode == .force && !waitsForCredential {
      item.state = .expired
      item.reason = .authRequired
    } else if waitsForCredential {
      var control = control
      control.refuse(by: item.upstream, isUnreadable: isUnreadable)
      return QueueChanges(updated: [item], control: control)
    } else {
      item.park(.authRequired)
    }
    return QueueChanges(updated: [item])
  }

  private func applying(
    _ item: Mutation, created: [TemporaryID: EntityKey], at now: Timestamp
  ) -> QueueChanges {
    var item = item
    item.state = .applied
    let resolved = created.filter { item.footprint.isCreating($0.key) }
    var changes = QueueChanges(updated: [item], resolved: resolved)
    for id in resolved.keys {
      for waiting in line.items(touching: .temporary(id)) where waiting.id != item.id {
        let latest = changes.updated.first { $0.id == waiting.id } ?? waiting
        changes.merge(QueueChanges(updated: [latest.resolving(resolved)]))
      }
    }
    let unresolved = item.footprint.creates.map(\.id).filter { resolved[$0] == nil }
    var cancellation = DependencyCancellation(queue: self, now: now, without: absorbed(by: item))
    cancellation.lose(unresolved, of: item, reason: .unresolved)
    changes.merge(QueueChanges(updated: cancellation.cancelled))
    return superseding(by: item, changes)
  }

  private func rejecting(
    _ item: Mutation, _ reason: SettleReason, at now: Timestamp
  ) -> QueueChanges {
    var item = item
    item.state = .rejected
    item.reason = reason
    var cancellation = DependencyCancellation(queue: self, now: now, without: absorbed(by: item))
    cancellation.lose(item)
    return superseding(by: item, QueueChanges(updated: [item] + cancellation.cancelled))
  }

  /// Supersedes the lazy mutations that a forced one stands for, once it has reached upstream.
  private func superseding(by item: Mutation, _ changes: QueueChanges) -> QueueChanges {
    var changes = changes
    for place in absorbed(by: item).sorted() {
      guard var lazy = line[place] else { continue }
      lazy.state = .superseded
      lazy.supersededBy = item.id
      changes.merge(QueueChanges(updated: [lazy]))
    }
    return changes
  }
}

extension Mutation {
  fileprivate mutating func countAttempt() {
    attempts += 1
    everSent = true
  }

  mutating func park(_ reason: SettleReason) {
    state = .parked
    self.reason = reason
  }

  fileprivate mutating func strike(_ strikes: Int) {
    self.strikes = strikes
    if state == .queued, strikes >= QueuePolicy.strikesMax { park(.poison) }
  }

  fileprivate mutating func backOff(
    at now: Timestamp, retryAfter: Duration? = nil,
    using random: inout some RandomNumberGenerator
  ) {
    let delay = BackOff.delay(attempts: attempts, using: &random)
    let named = min(retryAfter ?? .zero, QueuePolicy.retryAfterMax)
    due = DueTime(
      now.advanced(by: max(delay, named)), named > .zero ? .retryAfter : .backOff)
  }

  fileprivate mutating func followUnknown(
    at now: Timestamp, using random: inout some RandomNumberGenerator
  ) {
    switch unknownRule {
    case .sendAgain: backOff(at: now, using: &random)
    case .verify where step == .send: step = .verify
    case .verify: backOff(at: now, using: &random)
    case .park: park(.outcomeUnknown)
    }
  }
}
