import Cryptography
import Model

/// Entity tags made of a representation's own bytes: the same bytes have the same tag after a
/// restart and on every node (RFC 9110 section 8.8.3).
enum EntityDigest {
  /// 128 bits of SHA-256 in base64url, 22 characters.
  static func tag(of body: [UInt8]) -> String {
    Base64URL.encode(SHA256.hash(data: body).prefix(16))
  }

  /// 96 bits of SHA-256 in base64url, 16 characters: what tells one state of an entity from another.
  static func revision(of content: [UInt8]) -> String {
    Base64URL.encode(SHA256.hash(data: content).prefix(12))
  }
}
