import Model

/// Statistics over a number of runs.
struct StoreTotals: CustomStringConvertible {
  var steps = 0
  var starts = 0
  private(set) var circumstances: [FaultyStore.Circumstance: Int] = [:]
  private var states: [MutationID: Set<MutationState>] = [:]
  private var ever: [MutationState: Int] = [:]

  /// The number of mutations that were seen in a state.
  subscript(state: MutationState) -> Int { ever[state] ?? 0 }

  mutating func add(_ circumstance: FaultyStore.Circumstance?) {
    if let circumstance { circumstances[circumstance, default: 0] += 1 }
  }

  mutating func see(_ mutation: Mutation) {
    if states[mutation.id, default: []].insert(mutation.state).inserted {
      ever[mutation.state, default: 0] += 1
    }
  }

  mutating func add(_ other: StoreTotals) {
    steps += other.steps
    starts += other.starts
    circumstances.merge(other.circumstances, uniquingKeysWith: +)
    ever.merge(other.ever, uniquingKeysWith: +)
  }

  var description: String {
    let states = MutationState.allCases.map { "\($0) \(self[$0])" }.joined(separator: ", ")
    let met = FaultyStore.Circumstance.allCases.map { "\($0) \(circumstances[$0] ?? 0)" }
      .joined(separator: ", ")
    return "\(steps) steps, \(starts) restarts; \(met); \(states)"
  }
}
