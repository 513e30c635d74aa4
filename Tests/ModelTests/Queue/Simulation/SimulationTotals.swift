import Model

/// What a number of runs met.
struct SimulationTotals: CustomStringConvertible {
  private(set) var ever: [MutationState: Int] = [:]
  private(set) var crashes = 0
  private(set) var commits = 0

  mutating func add(_ simulation: QueueSimulation) {
    crashes += simulation.crashCount
    commits += simulation.store.commitCount
    for states in simulation.store.told.values {
      for state in Set(states) { ever[state, default: 0] += 1 }
    }
  }

  var description: String {
    let states = MutationState.allCases.map { "\($0) \(ever[$0] ?? 0)" }.joined(separator: ", ")
    return "\(commits) commits, \(crashes) crashes; \(states)"
  }
}
