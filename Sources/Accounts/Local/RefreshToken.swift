import Cryptography
import Model

/// A refresh token: one part that all tokens of a session share, and one of its own.
///
/// The shared part finds the session also for a token that was used up, which is how reuse is seen
/// without keeping every old token. Both parts are random, and the store has digests of them only.
struct RefreshToken: Sendable {
  private static let familyByteCount = 16
  private static let secretByteCount = 32

  private let family: [UInt8]
  private let secret: [UInt8]

  /// The first of a session.
  init(random: RandomBytes) {
    family = random.bytes(Self.familyByteCount)
    secret = random.bytes(Self.secretByteCount)
  }

  private init(family: [UInt8], secret: [UInt8]) {
    self.family = family
    self.secret = secret
  }

  /// Nil for what cannot be one.
  init?(_ text: String) {
    guard let bytes = Base64URL.decode(text),
      bytes.count == Self.familyByteCount + Self.secretByteCount
    else { return nil }
    family = Array(bytes.prefix(Self.familyByteCount))
    secret = Array(bytes.dropFirst(Self.familyByteCount))
  }

  /// The next of the same session.
  func next(random: RandomBytes) -> RefreshToken {
    RefreshToken(family: family, secret: random.bytes(Self.secretByteCount))
  }

  var text: String { Base64URL.encode(family + secret) }
  var familyDigest: String { Base64URL.encode(SHA256.hash(data: family)) }
  var digest: String { Base64URL.encode(SHA256.hash(data: family + secret)) }
}
