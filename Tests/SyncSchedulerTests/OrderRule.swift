import Model

/// The guaranteed order, stated pair by pair and without an index, with which the scheduler is compared.
enum OrderRule {
  /// Returns the mutation whose order a claim of this one would violate.
  static func faults(
    claiming item: Mutation, among held: [Mutation], at now: Timestamp
  ) -> [String] {
    var faults: [String] = []
    for other in held where other.id != item.id {
      let isBefore = other.place < item.place && !(item.isFrozen && !other.isFrozen)
      let overtakesSent = other.isFrozen && !item.isFrozen && !other.state.isFinished
      if isConflicting(item, by: other), isBefore || overtakesSent,
        !isStoodFor(other, by: item, among: held)
      {
        faults.append("\(item.id) overtakes \(other.id)")
      }
      if item.mode == .steady, other.mode == .steady, isBefore,
        other.state == .queued || other.state == .inflight
      {
        faults.append("\(item.id) leaves the steady order before \(other.id)")
      }
      if other.state == .inflight, other.mode != .force, item.mode == .steady, isCalm(held, now) {
        faults.append("\(item.id) goes beside \(other.id)")
      }
    }
    for id in item.footprint.needs where held.contains(where: { $0.footprint.isCreating(id) }) {
      faults.append("\(item.id) goes without its temporary id")
    }
    return faults
  }

  /// Returns whether only the client or an operator can end the wait of a mutation: it conflicts with a
  /// parked one, needs an id of an expired create, or waits for a mutation that waits in this way.
  static func isExcused(_ item: Mutation, among held: [Mutation]) -> Bool {
    held.contains { other in
      guard other.id != item.id else { return false }
      let isSteadyPair = item.mode == .steady && other.mode == .steady && other.state == .queued
      guard isConflicting(item, by: other) || (isSteadyPair && other.place < item.place) else {
        return false
      }
      switch other.state {
      case .parked, .expired: return true
      case .queued:
        let isFirst = other.isFrozen != item.isFrozen ? other.isFrozen : other.place < item.place
        return isFirst && isExcused(other, among: held)
      default: return false
      }
    }
  }

  private static func isConflicting(_ item: Mutation, by other: Mutation) -> Bool {
    if other.state == .expired || item.overtakesAll {
      return item.footprint.needs.contains { other.footprint.isCreating($0) }
        || (item.overtakesAll && other.state != .expired
          && item.footprint.needs.contains { other.footprint.mentions($0) })
    }
    return item.footprint.conflicts(with: other.footprint)
  }

  /// A forced mutation supersedes an unsent lazy one of its kind.
  private static func isStoodFor(
    _ lazy: Mutation, by forced: Mutation, among held: [Mutation]
  ) -> Bool {
    guard forced.mode == .force, lazy.mode == .lazy, lazy.state == .queued, !lazy.everSent,
      lazy.operation == forced.operation, lazy.object == forced.object
    else { return false }
    return held.allSatisfy { between in
      between.place <= lazy.place || between.place >= forced.place
        || between.state == .expired || !between.footprint.conflicts(with: lazy.footprint)
        || isStoodFor(between, by: forced, among: held)
    }
  }

  /// Returns whether no caller waits, so that mutations are not sent concurrently.
  private static func isCalm(_ held: [Mutation], _ now: Timestamp) -> Bool {
    !held.contains { $0.mode == .force && $0.isArmed(at: now) }
  }
}
