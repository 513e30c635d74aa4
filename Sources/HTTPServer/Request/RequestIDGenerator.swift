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
    let word = next()
    let digits = (Self.hexadecimal(word >> 32), Self.hexadecimal(word & 0xFFFF_FFFF))
    withUnsafeBytes(of: digits) { output.append(contentsOf: $0) }
  }

  /// The eight digits of the lower half of a word, as they stand in memory. All at once: each
  /// nibble is given a byte of its own, and those above nine the way from `:` to `a`.
  private static func hexadecimal(_ half: UInt64) -> UInt64 {
    var nibbles = (half | half << 16) & 0x0000_FFFF_0000_FFFF
    nibbles = (nibbles | nibbles << 8) & 0x00FF_00FF_00FF_00FF
    nibbles = (nibbles | nibbles << 4) & 0x0F0F_0F0F_0F0F_0F0F
    let ones: UInt64 = 0x0101_0101_0101_0101
    let letters = ((nibbles &+ ones &* 6) >> 4) & ones
    return (nibbles &+ ones &* 0x30 &+ letters &* 0x27).bigEndian
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
