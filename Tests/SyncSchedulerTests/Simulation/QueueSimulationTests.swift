import Foundation
import Model
import Testing

/// Seeded runs of a whole service around the scheduler.
///
/// `LARDER_QUEUE_SEEDS` sets their number (200), `LARDER_QUEUE_SEED` reruns a single one. The report of a
/// fault names the seed.
struct QueueSimulationTests {
  @Test("Simulated devices, crashes and outages never break an invariant", .timeLimit(.minutes(10)))
  func keepsInvariants() {
    let environment = ProcessInfo.processInfo.environment
    let count = environment["LARDER_QUEUE_SEEDS"].flatMap(UInt64.init) ?? 200
    let seeds = environment["LARDER_QUEUE_SEED"].flatMap(UInt64.init).map { $0...$0 } ?? 1...count
    var totals = SimulationTotals()
    for seed in seeds {
      var simulation = QueueSimulation(seed: seed)
      simulation.run()
      totals.add(simulation)
      if simulation.fault != nil {
        var retold = QueueSimulation(seed: seed, isTelling: true)
        retold.run()
        let fault = retold.fault ?? "seed \(seed) is not the same twice"
        Issue.record("\(fault)\nrerun: LARDER_QUEUE_SEED=\(seed) swift test --filter noSeedBreaks")
        break
      }
    }
    print("queue: seeds \(seeds.lowerBound)–\(seeds.upperBound), \(totals)")
    // A simulation in which nothing goes wrong would prove nothing.
    if seeds.count >= 100 {
      for state in MutationState.allCases where state != .queued && state != .inflight {
        #expect(totals.ever[state] ?? 0 > 0, "no run met \(state)")
      }
      #expect(totals.crashes > 0)
    }
  }
}

/// Seeded runs of several nodes, of which one leads.
///
/// `LARDER_CLUSTER_SEEDS` sets their number (1000), `LARDER_CLUSTER_SEED` reruns a single one.
struct ClusterSimulationTests {
  private static let parts: UInt64 = 4

  /// In parts, so that they can run side by side.
  @Test(
    "Simulated nodes, leases and paused leaders never break an invariant", .timeLimit(.minutes(10)),
    arguments: 0..<parts)
  func keepsInvariants(part: UInt64) {
    let environment = ProcessInfo.processInfo.environment
    let count = environment["LARDER_CLUSTER_SEEDS"].flatMap(UInt64.init) ?? 1_000
    let share = max(1, count / Self.parts)
    var seeds = part * share + 1...(part + 1) * share
    if let seed = environment["LARDER_CLUSTER_SEED"].flatMap(UInt64.init) {
      guard part == 0 else { return }
      seeds = seed...seed
    }
    var totals = SimulationTotals()
    for seed in seeds {
      var simulation = QueueSimulation(seed: seed, isCluster: true)
      simulation.run()
      totals.add(simulation)
      if simulation.fault != nil {
        var retold = QueueSimulation(seed: seed, isTelling: true, isCluster: true)
        retold.run()
        let fault = retold.fault ?? "seed \(seed) is not the same twice"
        Issue.record(
          "\(fault)\nrerun: LARDER_CLUSTER_SEED=\(seed) swift test --filter ClusterSimulationTests")
        break
      }
    }
    print("cluster: seeds \(seeds.lowerBound)–\(seeds.upperBound), \(totals)")
    if seeds.count >= 100 {
      #expect(totals.fenced > 0)
      #expect(totals.refused > 0)
      #expect(totals.repeated > 0)
      #expect(totals.epochs > seeds.count)
    }
  }
}

/// The event counts of several runs.
struct SimulationTotals: CustomStringConvertible {
  private(set) var ever: [MutationState: Int] = [:]
  private(set) var crashes = 0
  private(set) var commits = 0
  /// See ``SimulatedCluster``.
  private(set) var fenced = 0
  private(set) var refused = 0
  private(set) var repeated = 0
  private(set) var epochs = 0

  mutating func add(_ simulation: QueueSimulation) {
    if let cluster = simulation.cluster {
      fenced += cluster.fencedCount
      refused += cluster.refusedCount
      repeated += cluster.repeatedCount
      epochs += cluster.epoch
    }
    crashes += simulation.crashCount
    commits += simulation.store.commitCount
    for states in simulation.store.told.values {
      for state in Set(states) { ever[state, default: 0] += 1 }
    }
  }

  var description: String {
    let states = MutationState.allCases.map { "\($0) \(ever[$0] ?? 0)" }.joined(separator: ", ")
    let ofClusters =
      epochs == 0
      ? "" : "; \(epochs) epochs, \(fenced) fenced, \(refused) refused, \(repeated) repeated"
    return "\(commits) commits, \(crashes) crashes\(ofClusters); \(states)"
  }
}
