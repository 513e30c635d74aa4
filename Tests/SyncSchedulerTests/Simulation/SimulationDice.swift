import TestSupport

/// All randomness of one run, from its seed.
struct SimulationDice: SeededChance {
  var generator: SeededGenerator
  /// Whether faults happen at all; off while a run is brought to its end.
  var isCalm = false
  /// How many of a thousand commits hit a failpoint before, and how many after.
  let crashesPerThousand: Int

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
    crashesPerThousand = Int.random(in: 0...40, using: &generator)
  }

  var isCrash: Bool {
    mutating get {
      !isCalm && Int.random(in: 0..<1000, using: &generator) < crashesPerThousand
    }
  }
}
