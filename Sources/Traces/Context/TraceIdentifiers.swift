/// The id of a trace: 16 bytes that are not all zero (W3C Trace Context section 3.2.2.3).
package struct TraceID: Hashable, Sendable, CustomStringConvertible {
  package let high: UInt64
  package let low: UInt64

  /// Nil if all bytes are zero.
  package init?(high: UInt64, low: UInt64) {
    guard high != 0 || low != 0 else { return nil }
    self.high = high
    self.low = low
  }

  /// Makes an id of random numbers.
  package init(random: () -> UInt64) {
    high = random()
    var low = random()
    while low == 0 { low = random() }
    self.low = low
  }

  /// The same as ``description``.
  package var bytes: ArraySlice<UInt8> {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes[...]
  }

  /// Appends 32 hexadecimal digits in lower case.
  package func append(to bytes: inout [UInt8]) {
    HexadecimalNumber.append(high, digits: 16, to: &bytes)
    HexadecimalNumber.append(low, digits: 16, to: &bytes)
  }

  package var description: String {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The id of a span: 8 bytes that are not all zero (W3C Trace Context section 3.2.2.4).
package struct SpanID: Hashable, Sendable, CustomStringConvertible {
  package let number: UInt64

  /// Nil if all bytes are zero.
  package init?(_ number: UInt64) {
    guard number != 0 else { return nil }
    self.number = number
  }

  /// Makes an id of a random number.
  package init(random: () -> UInt64) {
    var number = random()
    while number == 0 { number = random() }
    self.number = number
  }

  /// Appends 16 hexadecimal digits in lower case.
  package func append(to bytes: inout [UInt8]) {
    HexadecimalNumber.append(number, digits: 16, to: &bytes)
  }

  package var description: String {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Numbers as hexadecimal digits in lower case, the only ones that W3C Trace Context allows.
enum HexadecimalNumber {
  static func append(_ number: UInt64, digits: Int, to bytes: inout [UInt8]) {
    for place in (0..<digits).reversed() {
      let digit = UInt8(truncatingIfNeeded: number >> UInt64(place * 4)) & 0xF
      bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
  }

  /// Returns the number that at most 16 digits say; nil if there is another character among them.
  static func read(_ text: ArraySlice<UInt8>) -> UInt64? {
    var number: UInt64 = 0
    for byte in text {
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
      default: return nil
      }
      number = number << 4 | UInt64(digit)
    }
    return number
  }
}
