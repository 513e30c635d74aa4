import JWTKit
import LosslessJSON

/// A public key for verifying tokens of one algorithm.
struct VerificationKey: Sendable {
  /// Nil if the issuer has a single key without an id.
  let id: String?
  let algorithm: TokenAlgorithm
  private let checker: any JWTAlgorithm

  init(id: String?, algorithm: TokenAlgorithm, checker: any JWTAlgorithm) {
    self.id = id
    self.algorithm = algorithm
    self.checker = checker
  }

  /// Reads one member of `keys` (RFC 7517 section 4). Nil for a key that is not for verifying
  /// signatures, or of an unsupported algorithm; key sets can contain such keys.
  static func read(_ key: JSONValue) async -> VerificationKey? {
    guard key["use"]?.string ?? "sig" == "sig" else { return nil }
    if let operations = key["key_ops"]?.array, !operations.contains("verify") { return nil }
    let named = key["alg"]?.string
    switch key["kty"]?.string {
    case "RSA" where named == nil || named == TokenAlgorithm.rs256.rawValue:
      return await rsa(key)
    case "EC" where named == nil || named == TokenAlgorithm.es256.rawValue:
      return await elliptic(key)
    default:
      return nil
    }
  }

  func accepts(_ signature: [UInt8], of text: [UInt8]) -> Bool {
    (try? checker.verify(signature, signs: text)) ?? false
  }

  /// The library refuses keys of fewer than 2048 bits (RFC 7518 section 3.3).
  private static func rsa(_ key: JSONValue) async -> VerificationKey? {
    guard let modulus = key["n"]?.string, let exponent = key["e"]?.string,
      let publicKey = try? Insecure.RSA.PublicKey(modulus: modulus, exponent: exponent)
    else { return nil }
    let keys = await JWTKeyCollection().add(rsa: publicKey, digestAlgorithm: .sha256)
    return await only(in: keys, id: key["kid"]?.string, .rs256)
  }

  private static func elliptic(_ key: JSONValue) async -> VerificationKey? {
    guard key["crv"]?.string == "P-256", let x = key["x"]?.string, let y = key["y"]?.string,
      let publicKey = try? ES256PublicKey(parameters: (x, y))
    else { return nil }
    let keys = await JWTKeyCollection().add(ecdsa: publicKey)
    return await only(in: keys, id: key["kid"]?.string, .es256)
  }

  private static func only(
    in keys: JWTKeyCollection, id: String?, _ algorithm: TokenAlgorithm
  ) async -> VerificationKey? {
    guard let checker = try? await keys.getKey() else { return nil }
    return VerificationKey(id: id, algorithm: algorithm, checker: checker)
  }
}
