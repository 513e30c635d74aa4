/// Percent-encoding of text (RFC 3986 2.1).
package enum PercentCoding {
  /// Decodes bytes; `nil` if a `%` is not followed by two digits, or the result is not UTF-8.
  ///
  /// - Parameter plusIsSpace: whether `+` is a space, as in query strings.
  package static func decode(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool = false) -> String? {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var iterator = bytes.makeIterator()
    while let byte = iterator.next() {
      if byte == ASCII.percent {
        guard let high = iterator.next()?.hexValue, let low = iterator.next()?.hexValue else {
          return nil
        }
        decoded.append(high << 4 | low)
      } else {
        decoded.append(plusIsSpace && byte == UInt8(ascii: "+") ? ASCII.space : byte)
      }
    }
    return String(validating: decoded, as: UTF8.self)
  }

  /// Decodes text.
  package static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String? {
    decode(ArraySlice(text.utf8), plusIsSpace: plusIsSpace)
  }

  /// Encodes all but letters, digits and `-._~`: safe in a path segment and in a query.
  package static func encode(_ text: some StringProtocol) -> String {
    var encoded: [UInt8] = []
    for byte in text.utf8 {
      if ASCIISet.unreserved.contains(byte) {
        encoded.append(byte)
      } else {
        encoded.append(ASCII.percent)
        encoded.append(digit(byte >> 4))
        encoded.append(digit(byte & 0xF))
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? 0x30 + value : 0x41 + value - 10
  }
}
