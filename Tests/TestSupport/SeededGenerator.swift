/// SplitMix64: the same seed gives the same numbers on every machine, so that a failing seed can be run
/// again.
///
/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) {
    state = seed
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// The random choices of one run, from its seed.
package protocol SeededChance {
  var generator: SeededGenerator { get set }
}

extension SeededChance {
  /// Draws whether an event with this probability in percent happens.
  package mutating func percent(_ share: Int) -> Bool {
    Int.random(in: 0..<100, using: &generator) < share
  }

  package mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &generator)
  }

  package mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.randomElement(using: &generator)
  }
}
