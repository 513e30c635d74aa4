/// JSON text that can be taken back to a mark: a null that replaces a half-written object cuts the
/// object off instead of building a tree first.
struct ResponseText {
  private(set) var bytes: [UInt8] = []

  /// A place to come back to.
  var mark: Int { bytes.count }

  mutating func cut(to mark: Int) {
    bytes.removeLast(bytes.count - mark)
  }

  mutating func append(_ byte: Character) {
    bytes.append(byte.asciiValue ?? UInt8(ascii: "?"))
  }

  /// Text that is JSON already.
  mutating func append(raw text: String) {
    bytes.append(contentsOf: text.utf8)
  }

  mutating func append(raw text: [UInt8]) {
    bytes.append(contentsOf: text)
  }

  /// A string with quotes and the escapes of RFC 8259, section 7.
  mutating func append(string: String) {
    bytes.append(UInt8(ascii: "\""))
    for unit in string.utf8 {
      switch unit {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(unit)
      case UInt8(ascii: "\n"): bytes.append(contentsOf: "\\n".utf8)
      case UInt8(ascii: "\t"): bytes.append(contentsOf: "\\t".utf8)
      case 0..<0x20:
        let digits = String(unit, radix: 16)
        bytes.append(contentsOf: "\\u00\(digits.utf8.count == 1 ? "0" : "")\(digits)".utf8)
      default: bytes.append(unit)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
