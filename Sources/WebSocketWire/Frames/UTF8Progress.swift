/// A check of text that arrives in pieces, which may end within a character (RFC 3629).
///
/// It fails at the first byte that no valid text can have at its place, so a text that will be refused is
/// refused early.
struct UTF8Progress: Sendable {
  private static let highBits: UInt64 = 0x8080_8080_8080_8080

  /// Bytes of the current character that are still missing.
  private var missing = 0
  /// The range of the next byte, which after some first bytes is narrower than that of a continuation:
  /// otherwise a character could be encoded in more bytes than it needs, as half of a surrogate pair, or
  /// above U+10FFFF.
  private var lowest: UInt8 = 0x80
  private var highest: UInt8 = 0xBF

  /// Whether the text can end here.
  var isComplete: Bool { missing == 0 }

  /// Checks the next piece. Returns false if the text is not valid.
  mutating func accept(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    while index < bytes.count {
      if missing == 0 {
        index = Self.skipASCII(bytes, from: index)
        guard index < bytes.count else { return true }
        guard begin(bytes[index]) else { return false }
      } else {
        let byte = bytes[index]
        guard byte >= lowest, byte <= highest else { return false }
        missing &-= 1
        lowest = 0x80
        highest = 0xBF
      }
      index &+= 1
    }
    return true
  }

  mutating func reset() { self = UTF8Progress() }

  private static func skipASCII(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    var index = start
    while index &+ 8 <= bytes.count,
      bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & highBits == 0
    {
      index &+= 8
    }
    while index < bytes.count, bytes[index] < 0x80 { index &+= 1 }
    return index
  }

  /// Takes a character's first byte, which is not ASCII.
  private mutating func begin(_ byte: UInt8) -> Bool {
    switch byte {
    case 0xC2...0xDF: missing = 1
    case 0xE0...0xEF:
      missing = 2
      if byte == 0xE0 { lowest = 0xA0 }
      if byte == 0xED { highest = 0x9F }
    case 0xF0...0xF4:
      missing = 3
      if byte == 0xF0 { lowest = 0x90 }
      if byte == 0xF4 { highest = 0x8F }
    default: return false
    }
    return true
  }
}
