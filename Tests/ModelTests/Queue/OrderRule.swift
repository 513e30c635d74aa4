import Model

/// The order the queue promises, said pair by pair and without an index: what the checks compare
/// the scheduler with.
enum OrderRule {
  /// What a claim of this item would break.
  static func faults(
    claiming item: Mutation, among held: [Mutation], at now: Timestamp
  ) -> [String] {
    var faults: [String] = []
    for other in held where other.id != item.id {
      let isBefore = other.place < item.place && !(item.isFrozen && !other.isFrozen)
      let overtakesSent = other.isFrozen && !item.isFrozen && !other.state.isFinished
      if isMet(item, by: other), isBefore || overtakesSent,
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

  /// Whether a waiting item has a reason to wait that only the client or an operator can end: it
  /// meets what is parked, or needs what an expired one creates, or what waits so before it.
  static func isExcused(_ item: Mutation, among held: [Mutation]) -> Bool {
    held.contains { other in
      guard other.id != item.id else { return false }
      let isSteadyPair = item.mode == .steady && other.mode == .steady && other.state == .queued
      guard isMet(item, by: other) || (isSteadyPair && other.place < item.place) else {
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

  private static func isMet(_ item: Mutation, by other: Mutation) -> Bool {
    if other.state == .expired || item.overtakesAll {
      return item.footprint.needs.contains { other.footprint.isCreating($0) }
        || (item.overtakesAll && other.state != .expired
          && item.footprint.needs.contains { other.footprint.mentions($0) })
    }
    return item.footprint.meets(other.footprint)
  }

  /// A forced item goes in the stead of a lazy one of its kind that was never sent.
  private static func isStoodFor(
    _ lazy: Mutation, by forced: Mutation, among held: [Mutation]
  ) -> Bool {
    guard forced.mode == .force, lazy.mode == .lazy, lazy.state == .queued, !lazy.everSent,
      lazy.operation == forced.operation, lazy.object == forced.object
    else { return false }
    return held.allSatisfy { between in
      between.place <= lazy.place || between.place >= forced.place
        || between.state == .expired || !between.footprint.meets(lazy.footprint)
        || isStoodFor(between, by: forced, among: held)
    }
  }

  /// Nobody waits for an answer, so that nothing goes beside another.
  private static func isCalm(_ held: [Mutation], _ now: Timestamp) -> Bool {
    !held.contains { $0.mode == .force && $0.isArmed(at: now) }
  }
}
