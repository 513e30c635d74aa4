import Cryptography
import TestSupport
import Testing

struct HashTests {
  @Test("OpenSSL as the distribution configures it offers every required algorithm")
  func offersRequiredAlgorithms() {
    #expect(RequiredAlgorithms.missing().isEmpty)
  }

  @Test(
    "SHA-256 gives the digests of FIPS 180-4's examples",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
    ])
  func sha256(text: String, digest: String) {
    #expect(Fixture.text(SHA256.hash(data: Array(text.utf8))) == digest)
  }

  @Test("SHA-1 and MD5 give the digests of their standards' examples")
  func insecureHashes() {
    #expect(
      Fixture.text(Insecure.SHA1.hash(data: Array("abc".utf8)))
        == "a9993e364706816aba3e25717850c26c9cd0d89d")
    #expect(
      Fixture.text(Insecure.MD5.hash(data: Array("message digest".utf8)))
        == "f96b697d7cb7938d525a2f31aaf161d0")
    #expect(Fixture.text(Insecure.MD5.hash(data: [])) == "d41d8cd98f00b204e9800998ecf8427e")
  }

  @Test("A million letters have the digest that FIPS 180-4 gives")
  func aLongText() {
    var hash = RunningHash<SHA256>()
    for _ in 0..<1000 { hash.update(data: [UInt8](repeating: UInt8(ascii: "a"), count: 1000)) }
    #expect(
      Fixture.text(hash.finalize())
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test("A text in pieces has the digest of the whole, at every step", arguments: 0..<20 as Range)
  func piecesOfAText(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var hash = RunningHash<Insecure.SHA1>()
    var whole: [UInt8] = []
    for _ in 0..<30 {
      let piece = (0..<Int.random(in: 0...200, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      hash.update(data: piece)
      whole += piece
      #expect(Array(hash.finalize()) == Array(Insecure.SHA1.hash(data: whole)), "seed \(seed)")
    }
  }

  @Test("A slice and a lazy collection are hashed as their bytes")
  func otherCollections() {
    let bytes: [UInt8] = [9, 1, 2, 3, 9]
    let digest = SHA256.hash(data: [1, 2, 3])
    #expect(SHA256.hash(data: bytes[1...3]) == digest)
    #expect(SHA256.hash(data: (0...2).lazy.map { UInt8($0 + 1) }) == digest)
  }
}
