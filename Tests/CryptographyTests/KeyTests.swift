import Cryptography
import LosslessJSON
import Testing

struct KeyTests {
  /// RFC 4231 section 4; number 5 truncates its output.
  @Test(
    "HMAC with SHA-256 gives the codes of RFC 4231",
    arguments: [
      (
        String(repeating: "0b", count: 20), "4869205468657265",
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
      ),
      (
        "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
      ),
      (
        String(repeating: "aa", count: 20), String(repeating: "dd", count: 50),
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
      ),
      (
        "0102030405060708090a0b0c0d0e0f10111213141516171819",
        String(repeating: "cd", count: 50),
        "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
      ),
      (
        String(repeating: "aa", count: 131),
        "54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a"
          + "65204b6579202d2048617368204b6579204669727374",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
      ),
    ])
  func authenticationCodes(key: String, text: String, code: String) {
    let key = SymmetricKey(data: Fixture.bytes(key))
    let text = Fixture.bytes(text)
    #expect(Fixture.text(HMAC<SHA256>.authenticationCode(for: text, using: key)) == code)
    var bytes = Fixture.bytes(code)
    #expect(HMAC<SHA256>.isValidAuthenticationCode(bytes, authenticating: text, using: key))
    #expect(
      !HMAC<SHA256>.isValidAuthenticationCode(
        bytes.dropLast(), authenticating: text, using: key))
    bytes[7] ^= 1
    #expect(!HMAC<SHA256>.isValidAuthenticationCode(bytes, authenticating: text, using: key))
  }

  @Test("HMAC takes an empty key and an empty text")
  func nothingAtAll() {
    let code = HMAC<SHA256>.authenticationCode(for: [], using: SymmetricKey(data: []))
    #expect(
      Fixture.text(code) == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
  }

  @Test("HMAC with SHA-1 gives RFC 2202's code")
  func olderCodes() {
    let key = SymmetricKey(data: Array("Jefe".utf8))
    let code = HMAC<Insecure.SHA1>.authenticationCode(
      for: Array("what do ya want for nothing?".utf8), using: key)
    #expect(Fixture.text(code) == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
  }

  @Test("HMAC decides Wycheproof's cases as they say")
  func codesOfWycheproof() throws {
    let cases = Fixture.rows(Fixture.wycheproof["hmac-sha256"])
    try #require(cases.count == 87)
    for row in cases {
      let isValid = HMAC<SHA256>.isValidAuthenticationCode(
        Fixture.bytes(row[4]), authenticating: Fixture.bytes(row[3]),
        using: SymmetricKey(data: Fixture.bytes(row[2])))
      #expect(isValid == (row[1] == "valid"), "case \(row[0])")
    }
  }

  /// RFC 5869 appendix A, the cases with SHA-256.
  @Test(
    "HKDF derives the keys of RFC 5869",
    arguments: [
      (
        String(repeating: "0b", count: 22), "000102030405060708090a0b0c", "f0f1f2f3f4f5f6f7f8f9",
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
      ),
      (
        String(repeating: "0b", count: 22), "", "",
        "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
      ),
    ])
  func derivedKeys(material: String, salt: String, info: String, key: String) {
    let derived = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: Fixture.bytes(material)), salt: Fixture.bytes(salt),
      info: Fixture.bytes(info), outputByteCount: 42)
    #expect(derived.withUnsafeBytes { Fixture.text($0) } == key)
  }

  @Test("HKDF derives the keys of Wycheproof's valid cases")
  func derivationsOfWycheproof() throws {
    let cases = Fixture.rows(Fixture.wycheproof["hkdf-sha256"]).filter { $0[1] == "valid" }
    try #require(cases.count > 70)
    for row in cases {
      let derived = HKDF<SHA256>.deriveKey(
        inputKeyMaterial: SymmetricKey(data: Fixture.bytes(row[2])), salt: Fixture.bytes(row[3]),
        info: Fixture.bytes(row[4]), outputByteCount: try #require(Int(row[5])))
      #expect(derived.withUnsafeBytes { Fixture.text($0) } == row[6], "case \(row[0])")
    }
  }

  /// RFC 7914 section 12.
  @Test(
    "scrypt derives the keys of RFC 7914",
    arguments: [
      (
        "", "", 4, 1, 1,
        "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
          + "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"
      ),
      (
        "password", "NaCl", 10, 8, 16,
        "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
          + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
      ),
    ])
  func passwords(
    password: String, salt: String, exponent: Int, block: Int, parallel: Int, key: String
  ) {
    let derived = Scrypt.derive(
      password, salt: Array(salt.utf8), exponent: exponent, blockFactor: block,
      parallel: parallel, byteCount: 64)
    #expect(derived.map { Fixture.text($0) } == key)
  }

  @Test("A key keeps its bytes, and an empty one has none")
  func keysKeepTheirBytes() {
    #expect(SymmetricKey(data: [1, 2, 3]).withUnsafeBytes { Array($0) } == [1, 2, 3])
    #expect(SymmetricKey(data: []).byteCount == 0)
  }
}
