import Cryptography
import HTTPWire

/// The key of a handshake and the proof that the server has read it (RFC 6455 section 4.2.2).
enum WebSocketKey {
  static let byteCount = 16

  private static let identifier = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

  /// Returns the value of `Sec-WebSocket-Accept` for a key.
  static func accept(_ key: some Sequence<UInt8>) -> String {
    let digest = Insecure.SHA1.hash(data: Array(key) + Array(identifier.utf8))
    return Base64Block.encode(Array(digest))
  }

  /// Returns whether a key is 16 bytes in base64: 22 digits, of which the last has only two bits, and two
  /// padding characters.
  static func isValid(_ key: ArraySlice<UInt8>) -> Bool {
    guard key.count == 24, key.suffix(2).elementsEqual("==".utf8),
      "AQgw".utf8.contains(key[key.startIndex + 21])
    else { return false }
    return key.dropLast(2).allSatisfy(isDigit)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "+"), UInt8(ascii: "/"): true
    default: false
    }
  }
}

/// What both sides of a handshake have agreed on.
package struct WebSocketAgreement: Sendable, Equatable {
  /// Nil for none.
  package var subprotocol: String?
  /// Nil without compression.
  package var deflate: WebSocketDeflate?
}
