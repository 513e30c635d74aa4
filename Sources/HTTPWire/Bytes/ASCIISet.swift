/// A set of ASCII bytes as two words, so that a look-up is one shift and no table is loaded.
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

  /// `pchar` and `/`, and the three bytes that browsers leave bare in a path: `[`, `]` and `|`.
  @inline(__always) static var path: ASCIISet {
    ASCIISet(low: 0x2FFF_FFF2_0000_0000, high: 0x57FF_FFFE_AFFF_FFFF)
  }

  /// `query` (RFC 3986 3.4) and what clients send bare in one: ``"<>\^`{}|[]``. Never `#`.
  @inline(__always) static var query: ASCIISet {
    ASCIISet(low: 0xFFFF_FFF6_0000_0000, high: 0x7FFF_FFFF_FFFF_FFFF)
  }

  /// `reg-name` (RFC 3986 3.2.2), the `%` of an encoded triplet included.
  @inline(__always) static var registeredName: ASCIISet {
    ASCIISet(low: 0x2BFF_7FF2_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)
  }

  /// What stands between the brackets of an IPv6 literal.
  @inline(__always) static var addressLiteral: ASCIISet {
    ASCIISet(low: 0x07FF_4000_0000_0000, high: 0x0000_007E_0000_007E)
  }

  /// `unreserved` (RFC 3986 2.3): what percent-encoding leaves as it is.
  @inline(__always) static var unreserved: ASCIISet {
    ASCIISet(low: 0x03FF_6000_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)
  }
}
