import Cryptography
import Foundation
import LosslessJSON
import TestSupport
import Testing

/// Signatures and sealed texts of Python's `cryptography`, and of this module there.
struct ReferenceTests {
  private static let seed: UInt64 = 20_261_123

  private static func reference() throws -> PythonReference {
    try PythonReference(
      script: URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Fixtures/reference.py").path)
  }

  private static func texts(_ count: Int, from seed: UInt64) -> [[UInt8]] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { _ in
      (0..<Int.random(in: 0...300, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
    }
  }

  @Test(
    "What another library signs is accepted, and nothing near it", arguments: ["ES256", "RS256"])
  func othersSignatures(algorithm: String) throws {
    let texts = Self.texts(100, from: Self.seed)
    let answers = try Self.reference().answers(
      to: texts.map {
        ["do": "sign", "alg": .string(algorithm), "text": .string(Fixture.text($0))]
      })
    for (text, answer) in zip(texts, answers) {
      func bytes(_ name: String) -> [UInt8] { Fixture.bytes(answer["key"]?[name]?.string ?? "") }
      let key = try #require(
        algorithm == "ES256"
          ? PublicKey.p256(x: bytes("x"), y: bytes("y"))
          : PublicKey.rsa(modulus: bytes("n"), exponent: bytes("e")))
      var signature = Fixture.bytes(try #require(answer["signature"]?.string))
      #expect(key.accepts(signature, of: text))
      #expect(!key.accepts(signature, of: text + [1]))
      signature[signature.count / 2] ^= 1
      #expect(!key.accepts(signature, of: text))
    }
  }

  @Test("Another library accepts what this one signs")
  func ownSignatures() throws {
    var requests: [JSONValue] = []
    for (index, text) in Self.texts(100, from: Self.seed + 1).enumerated() {
      let key = try #require(P256PrivateKey(scalar: Array(SHA256.hash(data: [UInt8(index)]))))
      let signature = try #require(key.sign(text))
      for signed in [text, text + [0]] {
        requests.append([
          "do": "check", "x": .string(Fixture.text(key.x)), "y": .string(Fixture.text(key.y)),
          "text": .string(Fixture.text(signed)), "signature": .string(Fixture.text(signature)),
        ])
      }
    }
    let answers = try Self.reference().answers(to: requests)
    for (index, answer) in answers.enumerated() {
      #expect(answer["isRight"] == .bool(index % 2 == 0), "request \(index)")
    }
  }

  @Test("What is sealed here is sealed the same by another library")
  func sealedTexts() throws {
    var requests: [JSONValue] = []
    var sealed: [String] = []
    for text in Self.texts(100, from: Self.seed + 2) {
      let (key, nonce) = (Array(SHA256.hash(data: text)), Array(Insecure.MD5.hash(data: text)))
      let box = try AES.GCM.seal(
        text, using: SymmetricKey(data: key), nonce: Array(nonce.prefix(12)),
        authenticating: nonce)
      sealed.append(Fixture.text(box.ciphertext + box.tag))
      requests.append([
        "do": "seal", "key": .string(Fixture.text(key)),
        "nonce": .string(Fixture.text(nonce.prefix(12))), "data": .string(Fixture.text(nonce)),
        "text": .string(Fixture.text(text)),
      ])
    }
    let answers = try Self.reference().answers(to: requests)
    #expect(answers.map { $0["sealed"]?.string } == sealed)
  }
}
