/// SplitMix64: one seed gives the same library on every machine and in every build.
///
/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
struct SeededRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &self)
  }

  /// True about once in `count` times.
  mutating func once(in count: Int) -> Bool {
    number(1...count) == 1
  }

  /// One of the choices, which must not be empty.
  mutating func pick<Choices: RandomAccessCollection>(_ choices: Choices) -> Choices.Element {
    let offset = number(0...choices.count - 1)
    return choices[choices.index(choices.startIndex, offsetBy: offset)]
  }
}
