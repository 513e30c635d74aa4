import Cryptography

/// Digests in signed texts: SHA-256, in lower-case hexadecimal digits.
package enum SignatureDigest {
  private static let digits = Array("0123456789abcdef".utf8)

  /// The digest of no bytes.
  package static let empty = of([])

  package static func of(_ bytes: [UInt8]) -> String { hex(SHA256.hash(data: bytes)) }

  package static func of(_ text: String) -> String { of(Array(text.utf8)) }

  package static func hex(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}
