/// Moves over JSON text that is known to be well-formed, by offsets and without making values.
///
/// An answer of a mebibyte has tens of thousands of members; walking them through reference-counted
/// nodes costs more than reading their bytes. Every loop is bounded by the text's end, so that even
/// damaged text can do no more than give wrong offsets inside it.
struct TextScanner {
  let text: UnsafeBufferPointer<UInt8>

  /// The byte at an offset; 0, which no JSON text holds, behind the end.
  @inline(__always)
  func byte(_ offset: Int) -> UInt8 {
    offset < text.count ? text[offset] : 0
  }

  @inline(__always)
  func skipSpace(_ offset: Int) -> Int {
    var offset = offset
    while offset < text.count, text[offset] <= 0x20 { offset += 1 }
    return offset
  }

  /// - Parameter offset: of the opening quote.
  /// - Returns: the offset behind the closing one.
  @inline(__always)
  func skipString(_ offset: Int) -> Int {
    var offset = offset + 1
    while true {
      // Eight bytes at a time while none of them is a quote or a backslash.
      while offset + 8 <= text.count {
        let word = UnsafeRawPointer(text.baseAddress.unsafelyUnwrapped + offset)
          .loadUnaligned(as: UInt64.self)
        if Self.holds(UInt8(ascii: "\""), word) || Self.holds(UInt8(ascii: "\\"), word) { break }
        offset += 8
      }
      while offset < text.count {
        let byte = text[offset]
        offset += 1
        if byte == UInt8(ascii: "\"") { return offset }
        if byte == UInt8(ascii: "\\") {
          offset += 1
          break
        }
        if offset & 7 == 0 { break }
      }
      if offset >= text.count { return text.count }
    }
  }

  /// Whether one of the word's bytes is this one ("Bit Twiddling Hacks", determine if a word has a
  /// byte equal to n).
  @inline(__always)
  private static func holds(_ byte: UInt8, _ word: UInt64) -> Bool {
    let matched = word ^ (0x0101_0101_0101_0101 &* UInt64(byte))
    return (matched &- 0x0101_0101_0101_0101) & ~matched & 0x8080_8080_8080_8080 != 0
  }

  /// - Parameter offset: of the value's first byte.
  /// - Returns: the offset behind its last one.
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

  /// From a member's name to its value.
  @inline(__always)
  func skipColon(_ offset: Int) -> Int { skipSpace(skipSpace(offset) + 1) }

  /// From behind an element or member to the next one's first byte, or to the closing bracket.
  @inline(__always)
  func skipComma(_ offset: Int) -> Int {
    let offset = skipSpace(offset)
    return byte(offset) == UInt8(ascii: ",") ? skipSpace(offset + 1) : offset
  }

  @inline(__always)
  func holds(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int) -> Bool {
    guard offset + bytes.count <= text.count else { return false }
    for index in 0..<bytes.count where text[offset + index] != bytes[index] { return false }
    return true
  }

  func string(_ range: Range<Int>) -> String {
    String(decoding: UnsafeBufferPointer(rebasing: text[range]), as: UTF8.self)
  }
}
