import Cryptography
import LosslessJSON
import Testing

struct SignatureTests {
  @Test("ECDSA on P-256 decides Wycheproof's cases as they say")
  func curvesOfWycheproof() throws {
    let groups = Fixture.wycheproof["es256"]?.array ?? []
    try #require(groups.count == 112)
    var accepted = 0
    for group in groups {
      let (x, y) = (Self.bytes(group["x"]), Self.bytes(group["y"]))
      let key = try #require(PublicKey.p256(x: x, y: y))
      for row in Fixture.rows(group["tests"]) {
        let isAccepted = key.accepts(Fixture.bytes(row[3]), of: Fixture.bytes(row[2]))
        #expect(isAccepted == (row[1] == "valid"), "case \(row[0])")
        accepted += isAccepted ? 1 : 0
      }
    }
    #expect(accepted > 100)
  }

  /// Keys with exponents below 65537 are in its groups too; only a signature whose ASN.1 lacks a NULL
  /// is left to the implementation ("acceptable").
  @Test("RSA with PKCS #1 v1.5 decides Wycheproof's cases as they say")
  func rsaOfWycheproof() throws {
    let groups = Fixture.wycheproof["rs256"]?.array ?? []
    try #require(groups.count == 3)
    var (accepted, refused) = (0, 0)
    for group in groups {
      let key = try #require(
        PublicKey.rsa(modulus: Self.bytes(group["n"]), exponent: Self.bytes(group["e"])))
      for row in Fixture.rows(group["tests"]) where row[1] != "acceptable" {
        let isAccepted = key.accepts(Fixture.bytes(row[3]), of: Fixture.bytes(row[2]))
        #expect(isAccepted == (row[1] == "valid"), "case \(row[0])")
        accepted += isAccepted ? 1 : 0
        refused += isAccepted ? 0 : 1
      }
    }
    #expect(accepted == 9 && refused == 249)
  }

  @Test("A key signs what its public key accepts, and nothing else")
  func signsAndChecks() throws {
    let key = try #require(P256PrivateKey(scalar: [UInt8](repeating: 5, count: 32)))
    let other = try #require(P256PrivateKey(scalar: [UInt8](repeating: 6, count: 32)))
    let text = Array("text".utf8)
    for _ in 0..<200 {
      let signature = try #require(key.sign(text))
      try #require(signature.count == 64)
      #expect(key.publicKey.accepts(signature, of: text))
      #expect(!other.publicKey.accepts(signature, of: text))
      #expect(!key.publicKey.accepts(signature, of: text + [0]))
      #expect(!key.publicKey.accepts(signature.dropLast(), of: text))
    }
  }

  /// RFC 6979 appendix A.2.5: the key pair of its examples.
  @Test("A private key has the public point that RFC 6979 names")
  func publicPoints() throws {
    let scalar = "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721"
    let key = try #require(P256PrivateKey(scalar: Fixture.bytes(scalar)))
    #expect(
      Fixture.text(key.x).uppercased()
        == "60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6")
    #expect(
      Fixture.text(key.y).uppercased()
        == "7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299")
  }

  @Test(
    "Numbers that are no key of the curve are refused",
    arguments: [
      String(repeating: "00", count: 32), String(repeating: "ff", count: 32),
      // The curve's order.
      "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
      "01", "",
    ])
  func noKeys(digits: String) {
    #expect(P256PrivateKey(scalar: Fixture.bytes(digits)) == nil)
  }

  @Test("The largest number below the order is a key")
  func theLastKey() {
    let digits = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550"
    #expect(P256PrivateKey(scalar: Fixture.bytes(digits)) != nil)
  }

  @Test("Points off the curve are refused")
  func pointsOffTheCurve() throws {
    let key = try #require(P256PrivateKey(scalar: [UInt8](repeating: 5, count: 32)))
    #expect(PublicKey.p256(x: key.x, y: key.y) != nil)
    var y = key.y
    y[31] ^= 1
    #expect(PublicKey.p256(x: key.x, y: y) == nil)
    #expect(PublicKey.p256(x: key.y, y: key.x) == nil)
    let zero = [UInt8](repeating: 0, count: 32)
    #expect(PublicKey.p256(x: zero, y: zero) == nil)
    let most = [UInt8](repeating: 255, count: 32)
    #expect(PublicKey.p256(x: most, y: most) == nil)
    #expect(PublicKey.p256(x: key.x, y: [0] + key.y) == nil)
  }

  @Test("RSA keys are taken by size and exponent")
  func rsaKeys() {
    func modulus(_ bits: Int) -> [UInt8] {
      [0x80] + [UInt8](repeating: 0x11, count: bits / 8 - 1)
    }
    let exponent: [UInt8] = [1, 0, 1]
    #expect(PublicKey.rsa(modulus: modulus(2048), exponent: exponent) != nil)
    #expect(PublicKey.rsa(modulus: [0, 0] + modulus(2048), exponent: [0] + exponent) != nil)
    #expect(PublicKey.rsa(modulus: [0x7F] + modulus(2048).dropFirst(), exponent: exponent) == nil)
    #expect(PublicKey.rsa(modulus: modulus(2040), exponent: exponent) == nil)
    #expect(PublicKey.rsa(modulus: modulus(8192), exponent: [3]) != nil)
    #expect(PublicKey.rsa(modulus: modulus(8200), exponent: [3]) == nil)
    for wrong in [[], [0], [1], [2], [1, 0, 0], [1, 0, 0, 0, 1]] as [[UInt8]] {
      #expect(PublicKey.rsa(modulus: modulus(2048), exponent: wrong) == nil, "\(wrong)")
    }
    #expect(PublicKey.rsa(modulus: modulus(2048).dropLast() + [2], exponent: exponent) == nil)
    #expect(PublicKey.rsa(modulus: [], exponent: exponent) == nil)
  }

  private static func bytes(_ value: JSONValue?) -> [UInt8] {
    Fixture.bytes(value?.string ?? "")
  }
}
