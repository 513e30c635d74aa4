import TestSupport

/// The random choices of one run, derived from its seed.
struct SimulatedChance: SeededChance {
  var generator: SeededGenerator
  /// Whether no faults occur: true while a run is brought to its end.
  var isCalm = false
  /// The percentage of store commands that meet a fault.
  private let troublePercent: Int

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
    troublePercent = Int.random(in: 0...15, using: &generator)
  }

  /// Returns the fault of the next command; nil for none.
  mutating func circumstance() -> FaultyStore.Circumstance? {
    !isCalm && percent(troublePercent) ? pick(FaultyStore.Circumstance.allCases) : nil
  }
}
