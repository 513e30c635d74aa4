import Cryptography
import Model

/// A refresh token: a part shared by all tokens of a session, and a secret part of its own.
///
/// The shared part identifies the session even of a used token, so that reuse is detected without
/// storing old tokens. Both parts are random, and the database contains only their digests.
struct RefreshToken: Sendable {
  private static let familyByteCount = 16
  private static let secretByteCount = 32

  private let family: [UInt8]
  private let secret: [UInt8]

  /// The first token of a session.
  init(random: RandomBytes) {
    family = random.bytes(Self.familyByteCount)
    secret = random.bytes(Self.secretByteCount)
  }

  private init(family: [UInt8], secret: [UInt8]) {
    self.family = family
    self.secret = secret
  }

  /// Nil for a malformed token.
  init?(_ text: String) {
    guard let bytes = Base64URL.decode(text),
      bytes.count == Self.familyByteCount + Self.secretByteCount
    else { return nil }
    family = Array(bytes.prefix(Self.familyByteCount))
    secret = Array(bytes.dropFirst(Self.familyByteCount))
  }

  /// The next token of the same session.
  func next(random: RandomBytes) -> RefreshToken {
    RefreshToken(family: family, secret: random.bytes(Self.secretByteCount))
  }

  var text: String { Base64URL.encode(family + secret) }
  var familyDigest: String { Base64URL.encode(SHA256.hash(data: family)) }
  var digest: String { Base64URL.encode(SHA256.hash(data: family + secret)) }
}
