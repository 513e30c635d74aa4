import Cryptography
import LosslessJSON
import Model

/// A P-256 private key that signs access tokens.
struct SigningKey: Sendable {
  /// The key's thumbprint, so that the same key has the same id.
  let id: String
  private let key: P256PrivateKey

  /// - Returns: nil for bytes that are not a key.
  init?(_ bytes: [UInt8]) {
    guard let key = P256PrivateKey(scalar: bytes) else { return nil }
    self.key = key
    // RFC 7638 section 3.2: these members in this order.
    let (x, y) = (Base64URL.encode(key.x), Base64URL.encode(key.y))
    let text = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
    id = Base64URL.encode(SHA256.hash(data: Array(text.utf8)))
  }

  static func make(random: RandomBytes) -> (key: SigningKey, bytes: [UInt8]) {
    while true {
      // One in four billion draws is not a number below the curve's order.
      let bytes = random.bytes(32)
      if let key = SigningKey(bytes) { return (key, bytes) }
    }
  }

  /// The key for verifying this key's signatures.
  var verificationKey: VerificationKey {
    VerificationKey(id: id, algorithm: .es256, key: key.publicKey)
  }

  /// As a member of a published key set (RFC 7517).
  var published: JSONValue {
    [
      "kty": "EC", "crv": "P-256", "x": .string(Base64URL.encode(key.x)),
      "y": .string(Base64URL.encode(key.y)), "kid": .string(id),
      "use": "sig", "alg": "ES256",
    ]
  }

  /// Signs a token with `claims`. It takes some tens of microseconds.
  func sign(_ claims: JSONValue) throws(AccountFault) -> String {
    let header: JSONValue = ["alg": "ES256", "typ": "at+jwt", "kid": .string(id)]
    let text = "\(Base64URL.encode(header.bytes)).\(Base64URL.encode(claims.bytes))"
    guard let signature = key.sign(Array(text.utf8)) else {
      throw .unavailable(cause: "the token could not be signed", wasSent: false)
    }
    return "\(text).\(Base64URL.encode(signature))"
  }
}
