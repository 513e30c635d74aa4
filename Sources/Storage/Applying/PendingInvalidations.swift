import Model

/// Purges and invalidations of things that were not there, remembered for answers that began
/// before them and are still on their way.
///
/// In memory alone: a call does not outlive its process.
struct PendingInvalidations {
  enum Effect {
    case purge
    case due
  }

  private struct Place: Hashable {
    let target: InvalidationTarget
    /// Nil means every scope.
    let scope: Int64?
    let effect: Effect
  }

  /// The last call of each: nobody asks for an earlier one.
  private var marks: [Place: Int64] = [:]

  var isEmpty: Bool { marks.isEmpty }

  mutating func add(
    _ target: InvalidationTarget, scope: Int64?, call: Int64, effect: Effect, horizon: Int64
  ) {
    guard horizon < call else { return }
    let place = Place(target: target, scope: scope, effect: effect)
    marks[place] = max(marks[place] ?? 0, call)
  }

  /// Forgets what no answer can be older than.
  mutating func prune(horizon: Int64) {
    if !marks.isEmpty { marks = marks.filter { $0.value > horizon } }
  }

  func purges(_ target: InvalidationTarget, scope: Int64, after call: Int64) -> Bool {
    last(.purge, of: target, scope: scope) > call
  }

  /// The last invalidation of an entity, 0 for none.
  func due(_ key: EntityKey, scope: Int64) -> Int64 {
    last(.due, of: .entity(key), scope: scope)
  }

  private func last(_ effect: Effect, of target: InvalidationTarget, scope: Int64) -> Int64 {
    guard !marks.isEmpty else { return 0 }
    return max(
      marks[Place(target: target, scope: scope, effect: effect)] ?? 0,
      marks[Place(target: target, scope: nil, effect: effect)] ?? 0)
  }
}
