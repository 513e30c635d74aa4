/// The share of traces that this service records if the caller has not decided.
package struct SamplingRatio: Hashable, Sendable {
  /// Random numbers up to this one are recorded; nil for none.
  private let highest: UInt64?

  /// - Parameter share: from 0, nothing, to 1, everything.
  package init(_ share: Double) {
    // Not a number is nothing.
    guard share > 0 else {
      highest = nil
      return
    }
    // `Double` has fewer digits than `UInt64`: 1 itself would be out of range.
    highest = share >= 1 ? .max : UInt64(share * 0x1p64)
  }

  /// Returns whether to record a trace.
  ///
  /// - Parameter random: a uniform number.
  @inline(__always)
  package func includes(_ random: UInt64) -> Bool {
    guard let highest else { return false }
    return random <= highest
  }
}

/// Cheap random numbers for decisions about sampling, which need not be unguessable (SplitMix64).
package struct SamplingDice: Sendable {
  private var state: UInt64

  package init(seed: UInt64) {
    state = seed
  }

  @inline(__always)
  package mutating func roll() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed &>> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed &>> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed &>> 31)
  }
}
