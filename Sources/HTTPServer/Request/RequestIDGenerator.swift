/// Generator of request ids: sixteen hexadecimal digits, unique within a loop and unlikely to repeat in
/// another, but not secret.
struct RequestIDGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  /// Returns whether a client's own id is kept: 1–64 letters, digits, `.`, `_` and `-`.
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

  /// The length of an id.
  static let idBytes = 16

  mutating func append(to output: inout [UInt8]) {
    let digits = next()
    withUnsafeBytes(of: digits) { output.append(contentsOf: $0) }
  }

  /// The bytes of the next id, in memory order.
  mutating func next() -> (UInt64, UInt64) {
    let word = nextWord()
    return (Self.hexadecimal(word >> 32), Self.hexadecimal(word & 0xFFFF_FFFF))
  }

  /// The eight digits of the lower half of a word, in memory order. All are computed at once: each
  /// nibble is spread to a byte, and those above nine get the distance from `:` to `a` added.
  private static func hexadecimal(_ half: UInt64) -> UInt64 {
    var nibbles = (half | half << 16) & 0x0000_FFFF_0000_FFFF
    nibbles = (nibbles | nibbles << 8) & 0x00FF_00FF_00FF_00FF
    nibbles = (nibbles | nibbles << 4) & 0x0F0F_0F0F_0F0F_0F0F
    let ones: UInt64 = 0x0101_0101_0101_0101
    let letters = ((nibbles &+ ones &* 6) >> 4) & ones
    return (nibbles &+ ones &* 0x30 &+ letters &* 0x27).bigEndian
  }

  /// SplitMix64: each state occurs once in 2^64 steps.
  private mutating func nextWord() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
