/// Base64 with padding (RFC 4648 section 4), the form of digests in header fields.
package enum Base64 {
  package static func encode(_ bytes: [UInt8]) -> String {
    let text = Base64URL.encode(bytes)
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    let standard = text.utf8.map { byte in
      byte == UInt8(ascii: "-") ? UInt8(ascii: "+") : byte == UInt8(ascii: "_") ? 0x2F : byte
    }
    return String(decoding: standard, as: UTF8.self) + padding
  }

  /// - Returns: nil unless the text is exactly what ``encode(_:)`` produces.
  package static func decode(_ text: String) -> [UInt8]? {
    guard text.utf8.count.isMultiple(of: 4), !text.utf8.contains(UInt8(ascii: "-")),
      !text.utf8.contains(UInt8(ascii: "_"))
    else { return nil }
    var digits = Array(text.utf8)
    while digits.last == UInt8(ascii: "="), text.utf8.count - digits.count < 2 {
      digits.removeLast()
    }
    let safe = digits.map { byte in
      byte == UInt8(ascii: "+") ? UInt8(ascii: "-") : byte == 0x2F ? UInt8(ascii: "_") : byte
    }
    return Base64URL.decode(String(decoding: safe, as: UTF8.self))
  }
}

/// Base64 with the URL-safe alphabet and without padding (RFC 4648 section 5).
package enum Base64URL {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  package static func encode(_ bytes: some Sequence<UInt8>) -> String { encode(Array(bytes)) }

  /// Not generic: other modules would run that unspecialised, ten times slower.
  package static func encode(_ bytes: [UInt8]) -> String {
    String(unsafeUninitializedCapacity: bytes.count * 4 / 3 + 1) { text in
      alphabet.withUnsafeBufferPointer { alphabet in
        var count = 0
        var buffer: UInt32 = 0
        var bits: UInt32 = 0
        for byte in bytes {
          buffer = buffer << 8 | UInt32(byte)
          bits += 8
          while bits >= 6 {
            bits -= 6
            text[count] = alphabet[Int(buffer >> bits & 63)]
            count += 1
          }
        }
        if bits > 0 {
          text[count] = alphabet[Int(buffer << (6 - bits) & 63)]
          count += 1
        }
        return count
      }
    }
  }

  /// - Returns: nil for a character outside the alphabet, for an impossible length, and for
  ///   non-zero left-over bits, so that each value has exactly one text.
  package static func decode(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count * 3 / 4)
    var buffer: UInt32 = 0
    var bits = 0
    for character in text.utf8 {
      guard let value = value(of: character) else { return nil }
      buffer = buffer << 6 | UInt32(value)
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
      }
    }
    guard bits < 6, buffer & (1 << UInt32(bits) - 1) == 0 else { return nil }
    return bytes
  }

  private static func value(of character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): character - 71
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character + 4
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
