import COpenSSL
import Cryptography
import Foundation
package import LosslessJSON
import Model

/// A private key of a made-up issuer: RSA, or ECDSA on P-256.
package struct TestKey: Sendable {
  package let id: String
  package let algorithm: String
  /// As a member of a key set.
  package let published: JSONValue
  private let signing: @Sendable ([UInt8]) -> [UInt8]?

  package static func elliptic(_ id: String) throws -> TestKey {
    var random = SystemRandomNumberGenerator()
    var scalar = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
    // Below the curve's order, whose first bytes are FF.
    scalar[0] &= 0x7F
    scalar[31] |= 1
    guard let key = P256PrivateKey(scalar: scalar) else { throw NoKey() }
    return TestKey(
      id: id, algorithm: "ES256",
      published: [
        "kty": "EC", "crv": "P-256", "kid": .string(id), "use": "sig", "alg": "ES256",
        "x": .string(Base64URL.encode(key.x)), "y": .string(Base64URL.encode(key.y)),
      ], signing: { key.sign($0) })
  }

  package static func rsa(_ id: String) throws -> TestKey {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Fixtures/rsa-2048.pem")
    let key = try RSAPrivateKey(pem: String(contentsOf: file, encoding: .utf8))
    return TestKey(
      id: id, algorithm: "RS256",
      published: [
        "kty": "RSA", "kid": .string(id), "use": "sig", "alg": "RS256", "e": "AQAB",
        "n": .string(modulus),
      ], signing: { key.sign($0) })
  }

  /// The modulus of the key in `Fixtures`.
  private static let modulus =
    "i_S1JoLgfCV3dt9AVrAplnUlF67ALg9f1YyTcKw1ziOPSbBHNVuXRU3QI69RYVjV6uFkpQmRDdva8rxYwg2hbC"
    + "qNIBAm3oUCHR7QcWQaXrHxCwpoxJF80DgDhm7YmmGXjHoI_i5833tDEPBEEy5pH-MK6-uTejsAFwOthGZXewDF"
    + "lLmEI-PerLzr2DNhVPzjm23T6vr-yfLbRBH-UM7YyCggqLIAMNlh8Iytr_SJ-L4_zSqUjun6fngpf-Rwgp8Mqv"
    + "_OLhDElkxJnQFZo_Iwo67dXTZYJaAYCmOcWgpI5RbcogUHo26WYlkB8EBLzAINZGVcl-ZJX4ym7jWis9gYiQ"

  package func sign(_ text: String) throws -> [UInt8] {
    guard let signature = signing(Array(text.utf8)) else { throw NoKey() }
    return signature
  }

  package func token(_ claims: JSONValue, header: JSONValue? = nil) throws -> String {
    let header =
      header ?? ["alg": .string(algorithm), "typ": "JWT", "kid": .string(id)]
    let text = "\(Base64URL.encode(header.bytes)).\(Base64URL.encode(claims.bytes))"
    return "\(text).\(Base64URL.encode(try sign(text)))"
  }
}

struct NoKey: Error {}

/// Signs as an issuer with an RSA key does; the service itself never needs one.
private final class RSAPrivateKey: Sendable {
  // SAFETY: an EVP_PKEY is not changed after it was made.
  nonisolated(unsafe) private let pointer: OpaquePointer

  init(pem: String) throws {
    let text = Array(pem.utf8)
    let source = BIO_new_mem_buf(text, Int32(text.count))
    defer { BIO_free(source) }
    guard let pointer = PEM_read_bio_PrivateKey(source, nil, nil, nil) else { throw NoKey() }
    self.pointer = pointer
  }

  deinit { EVP_PKEY_free(pointer) }

  func sign(_ text: [UInt8]) -> [UInt8]? {
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    var signature = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(pointer)))
    var count = signature.count
    guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, pointer) == 1,
      EVP_DigestSign(context, &signature, &count, text, text.count) == 1
    else { return nil }
    return Array(signature.prefix(count))
  }
}
