import Cryptography
import LosslessJSON
import Model

/// A public key for verifying tokens of one algorithm.
struct VerificationKey: Sendable {
  /// Nil if the issuer has a single key without an id.
  let id: String?
  let algorithm: TokenAlgorithm
  private let key: PublicKey

  init(id: String?, algorithm: TokenAlgorithm, key: PublicKey) {
    self.id = id
    self.algorithm = algorithm
    self.key = key
  }

  /// Reads one member of `keys` (RFC 7517 section 4).
  ///
  /// - Returns: nil for a key that is not for checking signatures, not of a supported algorithm, or
  ///   damaged; sets can hold such keys.
  static func read(_ key: JSONValue) -> VerificationKey? {
    guard key["use"]?.string ?? "sig" == "sig" else { return nil }
    if let operations = key["key_ops"]?.array, !operations.contains("verify") { return nil }
    let named = key["alg"]?.string
    let id = key["kid"]?.string
    switch key["kty"]?.string {
    case "RSA" where named == nil || named == TokenAlgorithm.rs256.rawValue:
      return rsa(key).map { VerificationKey(id: id, algorithm: .rs256, key: $0) }
    case "EC" where named == nil || named == TokenAlgorithm.es256.rawValue:
      return elliptic(key).map { VerificationKey(id: id, algorithm: .es256, key: $0) }
    default:
      return nil
    }
  }

  func accepts(_ signature: [UInt8], of text: [UInt8]) -> Bool {
    key.accepts(signature, of: text)
  }

  /// RFC 7518 section 6.3.1.
  private static func rsa(_ key: JSONValue) -> PublicKey? {
    guard let modulus = key["n"]?.string.flatMap(number),
      let exponent = key["e"]?.string.flatMap(number)
    else { return nil }
    return .rsa(modulus: modulus, exponent: exponent)
  }

  /// RFC 7518 section 6.2.1.
  private static func elliptic(_ key: JSONValue) -> PublicKey? {
    guard key["crv"]?.string == "P-256", let x = key["x"]?.string.flatMap(number),
      let y = key["y"]?.string.flatMap(number)
    else { return nil }
    return .p256(x: x, y: y)
  }

  /// A number of a JWK. RFC 7518 demands base64url without padding; some issuers pad it, or use the
  /// standard alphabet.
  private static func number(_ text: String) -> [UInt8]? {
    var characters = text.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
    while characters.last == "=" { characters.removeLast() }
    return Base64URL.decode(String(characters))
  }
}
