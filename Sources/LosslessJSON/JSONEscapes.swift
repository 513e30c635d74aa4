/// The escapes of RFC 8259, section 7, in both directions.
enum JSONEscapes {
  @inline(__always)
  static func hexDigit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
    default: nil
    }
  }

  /// Decodes a string's inner text, which the reader has validated.
  ///
  /// A surrogate escape without its partner is no character and becomes U+FFFD. The text on the tape
  /// stays unchanged.
  static func decoded(_ text: UnsafeBufferPointer<UInt8>) -> String {
    String(unsafeUninitializedCapacity: text.count) { output in
      var from = 0
      var count = 0
      while from < text.count {
        let byte = text[from]
        if byte != UInt8(ascii: "\\") {
          output[count] = byte
          count += 1
          from += 1
          continue
        }
        let (scalar, length) = scalar(in: text, at: from)
        for unit in UTF8.encode(scalar).unsafelyUnwrapped {
          output[count] = unit
          count += 1
        }
        from += length
      }
      return count
    }
  }

  /// - Returns: the character of an escape, and the length of the escape in bytes.
  private static func scalar(
    in text: UnsafeBufferPointer<UInt8>, at index: Int
  ) -> (Unicode.Scalar, Int) {
    switch text[index + 1] {
    case UInt8(ascii: "b"): return ("\u{8}", 2)
    case UInt8(ascii: "f"): return ("\u{C}", 2)
    case UInt8(ascii: "n"): return ("\n", 2)
    case UInt8(ascii: "r"): return ("\r", 2)
    case UInt8(ascii: "t"): return ("\t", 2)
    case UInt8(ascii: "u"): break
    case let byte: return (Unicode.Scalar(byte), 2)
    }
    let unit = codeUnit(in: text, at: index + 2)
    if let scalar = Unicode.Scalar(unit) { return (scalar, 6) }
    if unit < 0xDC00, index + 12 <= text.count, text[index + 6] == UInt8(ascii: "\\"),
      text[index + 7] == UInt8(ascii: "u")
    {
      let low = codeUnit(in: text, at: index + 8)
      let combined = 0x1_0000 + (unit & 0x3FF) << 10 + (low & 0x3FF)
      if low & 0xFC00 == 0xDC00, let scalar = Unicode.Scalar(combined) { return (scalar, 12) }
    }
    return ("\u{FFFD}", 6)
  }

  private static func codeUnit(in text: UnsafeBufferPointer<UInt8>, at index: Int) -> UInt32 {
    var unit: UInt32 = 0
    for offset in index..<(index + 4) { unit = unit << 4 | (hexDigit(text[offset]) ?? 0) }
    return unit
  }

  /// Appends a string with quotes, escaping only where required.
  static func append(_ string: String, to bytes: inout [UInt8]) {
    var string = string
    string.withUTF8 { units in
      bytes.append(UInt8(ascii: "\""))
      var plain = 0
      for index in 0..<units.count {
        let unit = units[index]
        guard unit < 0x20 || unit == UInt8(ascii: "\"") || unit == UInt8(ascii: "\\") else {
          continue
        }
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: units[plain..<index]))
        appendEscape(unit, to: &bytes)
        plain = index + 1
      }
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: units[plain...]))
      bytes.append(UInt8(ascii: "\""))
    }
  }

  private static func appendEscape(_ unit: UInt8, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\\"))
    switch unit {
    case 0x08: bytes.append(UInt8(ascii: "b"))
    case 0x0C: bytes.append(UInt8(ascii: "f"))
    case 0x0A: bytes.append(UInt8(ascii: "n"))
    case 0x0D: bytes.append(UInt8(ascii: "r"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    case 0x22, 0x5C: bytes.append(unit)
    default:
      let digits: StaticString = "0123456789abcdef"
      bytes.append(contentsOf: [UInt8(ascii: "u"), UInt8(ascii: "0"), UInt8(ascii: "0")])
      bytes.append(digits.utf8Start[Int(unit >> 4)])
      bytes.append(digits.utf8Start[Int(unit & 15)])
    }
  }
}
