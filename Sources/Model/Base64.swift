/// Base 64 with padding (RFC 4648 section 4), as digests stand in header fields.
package enum Base64 {
  package static func encode(_ bytes: [UInt8]) -> String {
    let text = Base64URL.encode(bytes)
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    let standard = text.utf8.map { byte in
      byte == UInt8(ascii: "-") ? UInt8(ascii: "+") : byte == UInt8(ascii: "_") ? 0x2F : byte
    }
    return String(decoding: standard, as: UTF8.self) + padding
  }

  /// - Returns: nil unless it is exactly what encoding gives.
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
