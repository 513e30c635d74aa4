import Cryptography
import Model

/// The token of a device: 256 random bits, shown once and stored only as a digest.
///
/// Plain SHA-256 suffices as the digest of 256 random bits. It needs no key, so devices remain
/// known when the service's key is replaced.
struct DeviceToken: Sendable {
  private static let byteCount = 32
  /// The length of 32 bytes in base64url.
  private static let characterCount = 43

  let text: String

  init(random: RandomBytes) {
    text = Base64URL.encode(random.bytes(Self.byteCount))
  }

  /// - Returns: nil for a malformed token, to save the look-up.
  init?(parsing text: String) {
    guard text.utf8.count == Self.characterCount, Base64URL.decode(text) != nil else { return nil }
    self.text = text
  }

  /// The digest by which the store finds the token.
  var digest: String { Base64URL.encode(Array(SHA256.hash(data: Array(text.utf8)))) }
}
