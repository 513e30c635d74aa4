/// Makes request ids: sixteen hexadecimal digits, different from each other and hard to mistake for
/// another loop's, but no secrets.
struct RequestIDGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  /// Whether a client's own id is kept: 1–64 of letters, digits, `.`, `_` and `-`.
  static func isAcceptable(_ id: ArraySlice<UInt8>) -> Bool {
    guard (1...64).contains(id.count) else { return false }
    return id.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "-"):
        true
      default:
        false
      }
    }
  }

  mutating func append(to output: inout [UInt8]) {
    var word = next()
    var digits: (UInt64, UInt64) = (0, 0)
    withUnsafeMutableBytes(of: &digits) { digits in
      for index in 0..<16 {
        let digit = UInt8(truncatingIfNeeded: word >> 60)
        digits[index] = digit < 10 ? 0x30 + digit : 0x57 + digit
        word <<= 4
      }
      output.append(contentsOf: UnsafeRawBufferPointer(digits))
    }
  }

  /// SplitMix64: every state comes once in 2^64 steps.
  private mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
