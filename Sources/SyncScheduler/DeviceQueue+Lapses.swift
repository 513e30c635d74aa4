package import Model

extension DeviceQueue {
  /// Applies deadlines that have passed: forced mutations that were never sent expire, mutations past
  /// their `expires` are parked, and late responses count as lost.
  package func lapses(
    at now: Timestamp, using random: inout some RandomNumberGenerator
  ) -> QueueChanges {
    let late = line.inflight.values.compactMap { line[$0] }.filter { $0.due.time <= now }
    var later = self
    var changes = later.losing(late, at: now, using: &random)
    for place in later.line.forced.values {
      guard var forced = later.line[place], forced.state == .queued, !forced.everSent,
        let armedUntil = forced.armedUntil, armedUntil <= now
      else { continue }
      forced.state = .expired
      forced.reason = .notSent
      changes.merge(later.applied(QueueChanges(updated: [forced])))
    }
    for var item in later.line.overdue(at: now) {
      item.park(.overdue)
      changes.merge(later.applied(QueueChanges(updated: [item])))
    }
    return changes
  }

  /// Recovers the stored queue at a start of the server: mutations in flight under another boot count
  /// as sent without a response; waits are cut to the longest possible, so that a clock set back cannot
  /// stall them; and a wait for the decryption key ends, since this start may have it.
  package func recovering(
    boot: String, at now: Timestamp, policy: QueuePolicy,
    using random: inout some RandomNumberGenerator
  ) -> QueueChanges {
    var later = self
    var changes = QueueChanges()
    let cut = held.compactMap { item in
      let cut = item.cuttingWaits(at: now, policy: policy)
      return cut == item ? nil : cut
    }
    changes.merge(later.applied(QueueChanges(updated: cut)))
    let lost = later.line.inflight.values.compactMap { later.line[$0] }.filter { $0.boot != boot }
    changes.merge(later.losing(lost, at: now, using: &random))
    if control.isUnreadable { changes.merge(later.applied(later.authenticated())) }
    return changes
  }

  private mutating func losing(
    _ items: [Mutation], at now: Timestamp, using random: inout some RandomNumberGenerator
  ) -> QueueChanges {
    var changes = QueueChanges()
    for item in items {
      let lost = ending(item, as: .unknown, othersSucceeded: nil, at: now, using: &random)
      changes.merge(applied(lost))
    }
    return changes
  }

  private mutating func applied(_ changes: QueueChanges) -> QueueChanges {
    apply(changes)
    return changes
  }
}

extension Mutation {
  fileprivate func cuttingWaits(at now: Timestamp, policy: QueuePolicy) -> Mutation {
    var cut = self
    cut.due = DueTime(
      min(due.time, now.advanced(by: due.reason.longest(policy: policy))), due.reason)
    cut.ended = ended.map { min($0, now) }
    cut.expires = min(expires, now.advanced(by: policy.expiry))
    cut.armedUntil = armedUntil.map { min($0, now.advanced(by: policy.forceDeadline)) }
    cut.gatheredSince = min(gatheredSince, now)
    return cut
  }
}

extension DueTime.Reason {
  fileprivate func longest(policy: QueuePolicy) -> Duration {
    switch self {
    case .atOnce: .zero
    case .debounce: policy.debounce * Int(QueuePolicy.debounceFactorMax)
    case .backOff: BackOff.patientDelayMax
    case .retryAfter: QueuePolicy.retryAfterMax
    case .answer: policy.answerDeadline
    }
  }
}
