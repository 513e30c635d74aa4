import Cryptography
import Model

/// What a device presents: 256 random bits, told once and kept nowhere.
///
/// A plain SHA-256 is enough of a digest, since nobody guesses 256 bits. It takes no key, so devices
/// stay known when the service's key is replaced.
struct DeviceToken: Sendable {
  private static let byteCount = 32
  /// Of 32 bytes in base64url.
  private static let characterCount = 43

  let text: String

  init(random: RandomBytes) {
    text = Base64URL.encode(random.bytes(Self.byteCount))
  }

  /// - Returns: nil for what cannot be a token, so that no look-up is spent on it.
  init?(parsing text: String) {
    guard text.utf8.count == Self.characterCount, Base64URL.decode(text) != nil else { return nil }
    self.text = text
  }

  /// What the store knows the token by.
  var digest: String { Base64URL.encode(Array(SHA256.hash(data: Array(text.utf8)))) }
}
