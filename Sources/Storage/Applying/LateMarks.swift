import Model

/// Purges and invalidations of things that were not there, remembered for answers that began
/// before them and are still on their way.
///
/// In memory alone: a call does not outlive its process.
struct LateMarks {
  enum Effect {
    case purge
    case due
  }

  private struct Mark {
    let target: InvalidationTarget
    /// Nil means every scope.
    let scope: Int64?
    let call: Int64
    let effect: Effect
  }

  private var marks: [Mark] = []

  var isEmpty: Bool { marks.isEmpty }

  mutating func add(
    _ target: InvalidationTarget, scope: Int64?, call: Int64, effect: Effect, horizon: Int64
  ) {
    guard horizon < call else { return }
    marks.append(Mark(target: target, scope: scope, call: call, effect: effect))
  }

  /// Forgets what no answer can be older than.
  mutating func prune(horizon: Int64) {
    if !marks.isEmpty { marks.removeAll { $0.call <= horizon } }
  }

  func purges(_ target: InvalidationTarget, scope: Int64, after call: Int64) -> Bool {
    marks.contains {
      $0.effect == .purge && $0.call > call && $0.target == target
        && ($0.scope == nil || $0.scope == scope)
    }
  }

  /// The last invalidation of an entity, 0 for none.
  func due(_ key: EntityKey, scope: Int64) -> Int64 {
    guard !marks.isEmpty else { return 0 }
    return marks.reduce(0) { latest, mark in
      guard mark.effect == .due, mark.target == .entity(key),
        mark.scope == nil || mark.scope == scope
      else { return latest }
      return max(latest, mark.call)
    }
  }
}
