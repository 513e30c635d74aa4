import TestSupport

/// All chance of one run, from its seed.
struct SimulatedChance: SeededChance {
  var generator: SeededGenerator
  /// Whether anything goes wrong at all; not while a run is brought to its end.
  var isCalm = false
  /// Of a hundred commands of the store, how many meet something out of the ordinary.
  private let troublePercent: Int

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
    troublePercent = Int.random(in: 0...15, using: &generator)
  }

  /// What comes in the way of the next command; nil for nothing.
  mutating func circumstance() -> FaultyStore.Circumstance? {
    !isCalm && percent(troublePercent) ? pick(FaultyStore.Circumstance.allCases) : nil
  }
}
