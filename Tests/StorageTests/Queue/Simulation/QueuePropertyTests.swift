import Foundation
import Model
import Testing

/// Seeded runs of phones, worker and upstream with the real store.
///
/// `LARDER_QUEUE_STORE_SEEDS` sets the number of seeds, `LARDER_QUEUE_STORE_SEED` reruns a single
/// one. The report of a fault names the seed.
struct QueuePropertyTests {
  private static let usualSeeds: UInt64 = 24

  @Test("No seed breaks a guarantee of the store", .timeLimit(.minutes(30)))
  func noSeedBreaksAPromiseOfTheStore() async throws {
    let environment = ProcessInfo.processInfo.environment
    let count =
      environment["LARDER_QUEUE_STORE_SEEDS"].flatMap(UInt64.init) ?? Self.usualSeeds
    let seeds =
      environment["LARDER_QUEUE_STORE_SEED"].flatMap(UInt64.init).map { $0...$0 } ?? 1...count
    var totals = StoreTotals()
    for seed in seeds {
      let fault = await Self.fault(ofSeed: seed, &totals)
      if let fault {
        Issue.record(
          "\(fault)\nrerun: LARDER_QUEUE_STORE_SEED=\(seed) swift test --filter noSeedBreaks")
        return
      }
    }
    print("queue in the store: seeds \(seeds.lowerBound)–\(seeds.upperBound), \(totals)")
    // A simulation without faults would prove nothing.
    if seeds.count >= Self.usualSeeds {
      for state in MutationState.allCases {
        #expect(totals[state] > 0, "no run met \(state)")
      }
      for circumstance in FaultyStore.Circumstance.allCases {
        #expect(totals.circumstances[circumstance] ?? 0 > 0, "no run met \(circumstance)")
      }
    }
  }

  private static func fault(ofSeed seed: UInt64, _ totals: inout StoreTotals) async -> String? {
    do {
      var simulation = try await StoreSimulation(seed: seed)
      try await simulation.run()
      totals.add(simulation.totals)
      return simulation.fault
    } catch {
      return "seed \(seed): \(error)"
    }
  }
}
