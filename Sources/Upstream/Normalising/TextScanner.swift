/// Scans well-formed JSON text by offsets, without creating values.
///
/// A response of one mebibyte has tens of thousands of members; walking them through
/// reference-counted nodes costs more than reading their bytes. Every loop is bounded by the text's
/// end, and no returned offset is before the given one or past the text's end, so even damaged text
/// can only give wrong offsets inside it.
struct TextScanner {
  let text: UnsafeBufferPointer<UInt8>

  /// The byte at an offset; 0, which no JSON text contains, past the end.
  @inline(__always)
  func byte(_ offset: Int) -> UInt8 {
    offset < text.count ? text[offset] : 0
  }

  /// Advances from a bracket to the next token.
  @inline(__always)
  func skipBracket(_ offset: Int) -> Int { skipSpace(min(offset + 1, text.count)) }

  @inline(__always)
  func skipSpace(_ offset: Int) -> Int {
    var offset = offset
    while offset < text.count, text[offset] <= 0x20 { offset += 1 }
    return offset
  }

  /// - Parameter offset: the offset of the opening quote.
  /// - Returns: the offset after the closing quote.
  @inline(__always)
  func skipString(_ offset: Int) -> Int {
    var offset = offset + 1
    while offset + 8 <= text.count {
      let word = UnsafeRawPointer(text.baseAddress.unsafelyUnwrapped + offset)
        .loadUnaligned(as: UInt64.self)
      let marks =
        Self.marks(of: UInt8(ascii: "\""), in: UInt64(littleEndian: word))
        | Self.marks(of: UInt8(ascii: "\\"), in: UInt64(littleEndian: word))
      guard marks != 0 else {
        offset += 8
        continue
      }
      offset += marks.trailingZeroBitCount >> 3
      if text[offset] == UInt8(ascii: "\"") { return offset + 1 }
      offset += 2
    }
    while offset < text.count {
      if text[offset] == UInt8(ascii: "\"") { return offset + 1 }
      offset += text[offset] == UInt8(ascii: "\\") ? 2 : 1
    }
    return text.count
  }

  /// The high bit of each byte of the word that equals this one; exact for the lowest such byte
  /// ("Bit Twiddling Hacks", determine if a word has a byte equal to n).
  @inline(__always)
  private static func marks(of byte: UInt8, in word: UInt64) -> UInt64 {
    let matched = word ^ (0x0101_0101_0101_0101 &* UInt64(byte))
    return (matched &- 0x0101_0101_0101_0101) & ~matched & 0x8080_8080_8080_8080
  }

  /// - Parameter offset: the offset of the value's first byte.
  /// - Returns: the offset after its last byte.
  @inline(__always)
  func skipValue(_ offset: Int) -> Int {
    switch byte(offset) {
    case UInt8(ascii: "\""): skipString(offset)
    case UInt8(ascii: "{"), UInt8(ascii: "["): skipContainer(offset)
    default: skipWord(offset)
    }
  }

  private func skipContainer(_ offset: Int) -> Int {
    var offset = offset
    var depth = 0
    while offset < text.count {
      switch text[offset] {
      case UInt8(ascii: "\""):
        offset = skipString(offset)
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth == 0 { return offset + 1 }
      default: break
      }
      offset += 1
    }
    return offset
  }

  /// A number or a literal ends before the first byte that can follow it.
  private func skipWord(_ offset: Int) -> Int {
    var offset = offset
    while offset < text.count {
      switch text[offset] {
      case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), 0...0x20: return offset
      default: offset += 1
      }
    }
    return offset
  }

  /// Advances from a member's name to its value.
  @inline(__always)
  func skipColon(_ offset: Int) -> Int { skipBracket(skipSpace(offset)) }

  /// Advances from the end of an element or member to the next one's first byte, or to the closing
  /// bracket.
  @inline(__always)
  func skipComma(_ offset: Int) -> Int {
    let offset = skipSpace(offset)
    return byte(offset) == UInt8(ascii: ",") ? skipSpace(offset + 1) : offset
  }

  func string(_ range: Range<Int>) -> String {
    String(decoding: UnsafeBufferPointer(rebasing: text[range]), as: UTF8.self)
  }
}
