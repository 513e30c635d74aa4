/// The bytes that HTTP's grammar names.
enum ASCII {
  static let tab = UInt8(ascii: "\t")
  static let lineFeed = UInt8(ascii: "\n")
  static let carriageReturn = UInt8(ascii: "\r")
  static let space = UInt8(ascii: " ")
  static let quote = UInt8(ascii: "\"")
  static let percent = UInt8(ascii: "%")
  static let comma = UInt8(ascii: ",")
  static let slash = UInt8(ascii: "/")
  static let colon = UInt8(ascii: ":")
  static let semicolon = UInt8(ascii: ";")
  static let equals = UInt8(ascii: "=")
  static let question = UInt8(ascii: "?")
  static let backslash = UInt8(ascii: "\\")
}

extension UInt8 {
  /// SP or HTAB: optional whitespace (RFC 9110 5.6.3), and nothing else is.
  @inline(__always) var isBlank: Bool { self == ASCII.space || self == ASCII.tab }

  @inline(__always) var isDigit: Bool { self &- 0x30 < 10 }

  /// The value of a hexadecimal digit.
  @inline(__always) package var hexValue: UInt8? {
    if isDigit { return self &- 0x30 }
    let lower = self | 0x20
    return lower &- 0x61 < 6 ? lower &- 0x61 &+ 10 : nil
  }

  /// The letter in lower case; other bytes stay as they are.
  @inline(__always) var lowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}
