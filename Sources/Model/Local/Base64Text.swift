/// Base64 with padding (RFC 4648 section 4), as far as a value must be told from other texts.
enum Base64Text {
  static func isValid(_ text: String) -> Bool {
    let bytes = text.utf8
    guard bytes.count % 4 == 0 else { return false }
    let padding = bytes.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard padding <= 2 else { return false }
    return bytes.dropLast(padding).allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
        true
      default: false
      }
    }
  }
}
