/// The characters of XML 1.0 (section 2.2) and of its names.
enum XMLCharacters {
  static func isLegal(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x9, 0xA, 0xD, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
    default: false
    }
  }

  /// The offset of the first bytes that are not valid UTF-8 or not a character of XML.
  static func firstIllegal(in bytes: [UInt8]) -> Int? {
    var offset = 0
    while offset < bytes.count {
      let byte = bytes[offset]
      if byte < 0x80 {
        guard isLegal(Unicode.Scalar(byte)) else { return offset }
        offset += 1
        continue
      }
      // No character is longer than four bytes; the bytes of the next one are ignored.
      var iterator = bytes[offset...].prefix(4).makeIterator()
      var codec = UTF8()
      guard case .scalarValue(let scalar) = codec.decode(&iterator), isLegal(scalar) else {
        return offset
      }
      offset += UTF8.width(scalar)
    }
    return nil
  }

  static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x9 || byte == 0xA || byte == 0xD
  }

  /// Whether a byte can begin a name. All bytes beyond ASCII are accepted: a name that is not valid there
  /// matches none that is looked up.
  static func beginsName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "_"), UInt8(ascii: ":"), 0x80...0xFF:
      true
    default: false
    }
  }

  static func isInName(_ byte: UInt8) -> Bool {
    beginsName(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
  }
}
