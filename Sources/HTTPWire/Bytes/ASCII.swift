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

  /// `tchar`, a byte of a token: a letter, a digit or one of ``!#$%&'*+-.^_`|~`` (RFC 9110 5.6.2).
  package var isTokenByte: Bool { ASCIISet.token.contains(self) }

  /// The value of a hexadecimal digit.
  @inline(__always) package var hexValue: UInt8? {
    if isDigit { return self &- 0x30 }
    let lower = self | 0x20
    return lower &- 0x61 < 6 ? lower &- 0x61 &+ 10 : nil
  }

  /// The letter in lower case; other bytes stay as they are.
  @inline(__always) var lowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}

/// A set of ASCII bytes as two words, so that a lookup is one shift and loads no table.
struct ASCIISet: Sendable {
  /// Bytes 0–63, one bit each.
  let low: UInt64
  /// Bytes 64–127, one bit each.
  let high: UInt64

  @inline(__always)
  func contains(_ byte: UInt8) -> Bool {
    let word = byte < 64 ? low : high
    return (word &>> UInt64(byte)) & (byte < 128 ? 1 : 0) != 0
  }
}

extension ASCIISet {
  /// `tchar`: letters, digits and ``!#$%&'*+-.^_`|~`` (RFC 9110 5.6.2).
  @inline(__always) static var token: ASCIISet {
    ASCIISet(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE)
  }

  /// `pchar` and `/`, and the three bytes that browsers leave unencoded in a path: `[`, `]` and `|`.
  @inline(__always) static var path: ASCIISet {
    ASCIISet(low: 0x2FFF_FFF2_0000_0000, high: 0x57FF_FFFE_AFFF_FFFF)
  }

  /// `query` (RFC 3986 3.4) and the bytes that clients send unencoded in one: ``"<>\^`{}|[]``. Never `#`.
  @inline(__always) static var query: ASCIISet {
    ASCIISet(low: 0xFFFF_FFF6_0000_0000, high: 0x7FFF_FFFF_FFFF_FFFF)
  }

  /// `reg-name` (RFC 3986 3.2.2), the `%` of an encoded triplet included.
  @inline(__always) static var registeredName: ASCIISet {
    ASCIISet(low: 0x2BFF_7FF2_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)
  }

  /// The bytes allowed between the brackets of an IPv6 literal.
  @inline(__always) static var addressLiteral: ASCIISet {
    ASCIISet(low: 0x07FF_4000_0000_0000, high: 0x0000_007E_0000_007E)
  }

  /// `unreserved` (RFC 3986 2.3): the bytes that percent-encoding leaves unchanged.
  @inline(__always) static var unreserved: ASCIISet {
    ASCIISet(low: 0x03FF_6000_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)
  }
}
