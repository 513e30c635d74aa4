import Crypto
import Foundation
import JWTKit
package import LosslessJSON
import Model

/// A private key of a made-up issuer: RSA, or ECDSA on P-256.
package struct TestKey: Sendable {
  package let id: String
  package let algorithm: String
  /// As a member of a key set.
  package let published: JSONValue
  private let signer: any JWTAlgorithm

  package static func elliptic(_ id: String) async throws -> TestKey {
    let key = P256.Signing.PrivateKey()
    let point = key.publicKey.rawRepresentation
    let signer = try await JWTKeyCollection()
      .add(ecdsa: ES256PrivateKey(pem: key.pemRepresentation)).getKey()
    return TestKey(
      id: id, algorithm: "ES256",
      published: [
        "kty": "EC", "crv": "P-256", "kid": .string(id), "use": "sig", "alg": "ES256",
        "x": .string(Base64URL.encode(point.prefix(32))),
        "y": .string(Base64URL.encode(point.suffix(32))),
      ], signer: signer)
  }

  package static func rsa(_ id: String) async throws -> TestKey {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Fixtures/rsa-2048.pem")
    let key = try Insecure.RSA.PrivateKey(pem: String(contentsOf: file, encoding: .utf8))
    let signer = try await JWTKeyCollection().add(rsa: key, digestAlgorithm: .sha256).getKey()
    return TestKey(
      id: id, algorithm: "RS256",
      published: [
        "kty": "RSA", "kid": .string(id), "use": "sig", "alg": "RS256", "e": "AQAB",
        "n": .string(modulus),
      ], signer: signer)
  }

  /// The modulus of the key in `Fixtures`.
  private static let modulus =
    "i_S1JoLgfCV3dt9AVrAplnUlF67ALg9f1YyTcKw1ziOPSbBHNVuXRU3QI69RYVjV6uFkpQmRDdva8rxYwg2hbC"
    + "qNIBAm3oUCHR7QcWQaXrHxCwpoxJF80DgDhm7YmmGXjHoI_i5833tDEPBEEy5pH-MK6-uTejsAFwOthGZXewDF"
    + "lLmEI-PerLzr2DNhVPzjm23T6vr-yfLbRBH-UM7YyCggqLIAMNlh8Iytr_SJ-L4_zSqUjun6fngpf-Rwgp8Mqv"
    + "_OLhDElkxJnQFZo_Iwo67dXTZYJaAYCmOcWgpI5RbcogUHo26WYlkB8EBLzAINZGVcl-ZJX4ym7jWis9gYiQ"

  package func sign(_ text: String) throws -> [UInt8] { try signer.sign(Array(text.utf8)) }

  package func token(_ claims: JSONValue, header: JSONValue? = nil) throws -> String {
    let header =
      header ?? ["alg": .string(algorithm), "typ": "JWT", "kid": .string(id)]
    let text = "\(Base64URL.encode(header.bytes)).\(Base64URL.encode(claims.bytes))"
    return "\(text).\(Base64URL.encode(try sign(text)))"
  }
}
