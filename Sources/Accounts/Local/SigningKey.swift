import Crypto
import JWTKit
import LosslessJSON
import Model

/// A P-256 private key that signs access tokens.
struct SigningKey: Sendable {
  /// The key's thumbprint, so that the same key has the same id.
  let id: String
  private let key: P256.Signing.PrivateKey
  private let signer: any JWTAlgorithm

  /// - Returns: nil for bytes that are not a key.
  static func read(_ bytes: [UInt8]) async -> SigningKey? {
    guard let key = try? P256.Signing.PrivateKey(rawRepresentation: bytes),
      let signing = try? ES256PrivateKey(backing: key),
      let signer = try? await JWTKeyCollection().add(ecdsa: signing).getKey()
    else { return nil }
    return SigningKey(key: key, signer: signer)
  }

  private init(key: P256.Signing.PrivateKey, signer: any JWTAlgorithm) {
    self.key = key
    self.signer = signer
    let (x, y) = Self.coordinates(of: key)
    // RFC 7638 section 3.2: these members in this order.
    let text = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
    id = Base64URL.encode(SHA256.hash(data: Array(text.utf8)))
  }

  static func make(random: RandomBytes) async -> (key: SigningKey, bytes: [UInt8]) {
    while true {
      // One in four billion draws is not a number below the curve's order.
      let bytes = random.bytes(32)
      if let key = await read(bytes) { return (key, bytes) }
    }
  }

  /// The key for verifying this key's signatures.
  var verificationKey: VerificationKey {
    VerificationKey(id: id, algorithm: .es256, checker: signer)
  }

  /// As a member of a published key set (RFC 7517).
  var published: JSONValue {
    let (x, y) = Self.coordinates(of: key)
    return [
      "kty": "EC", "crv": "P-256", "x": .string(x), "y": .string(y), "kid": .string(id),
      "use": "sig", "alg": "ES256",
    ]
  }

  /// Signs a token with `claims`. It takes some tens of microseconds.
  func sign(_ claims: JSONValue) throws(AccountFault) -> String {
    let header: JSONValue = ["alg": "ES256", "typ": "at+jwt", "kid": .string(id)]
    let text = "\(Base64URL.encode(header.bytes)).\(Base64URL.encode(claims.bytes))"
    do {
      return "\(text).\(Base64URL.encode(try signer.sign(Array(text.utf8))))"
    } catch {
      throw .unavailable(cause: "the token could not be signed: \(error)", wasSent: false)
    }
  }

  private static func coordinates(of key: P256.Signing.PrivateKey) -> (x: String, y: String) {
    let point = key.publicKey.rawRepresentation
    return (Base64URL.encode(point.prefix(32)), Base64URL.encode(point.suffix(32)))
  }
}
