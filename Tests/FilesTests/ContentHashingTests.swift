import Cryptography
import Model
import TestSupport
import Testing

@testable import Files

struct ContentHashingTests {
  /// The check values of the catalogue of parametrised CRC algorithms.
  @Test(
    "Digests match the published test vectors",
    arguments: [
      (ContentDigest.Algorithm.crc32, "cbf43926"), (.crc32c, "e3069283"),
      (.crc64nvme, "ae8b14860a799888"), (.md5, "25f9e794323b453885f5181f1b624d0b"),
      (.sha1, "f7c3bc1d808e04732adf679965ccc34ca7ae3441"),
      (.sha256, "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225"),
    ])
  func matchesTestVectors(algorithm: ContentDigest.Algorithm, hex: String) {
    var hashing = ContentHashing([algorithm])
    hashing.update(Array("123456789".utf8))
    #expect(hashing.digests()[algorithm]?.bytes == Hexadecimal.decode(hex))
  }

  @Test("Digests do not depend on how content is split", arguments: [UInt64(5)])
  func digestsDoNotDependOnPieces(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let bytes = (0..<1000).map { _ in UInt8.random(in: 0...255, using: &random) }
    var whole = ContentHashing(ContentDigest.Algorithm.allCases)
    whole.update(bytes)
    var pieces = ContentHashing(ContentDigest.Algorithm.allCases)
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(Int.random(in: 0...40, using: &random))
      pieces.update(Array(piece))
      rest = rest.dropFirst(piece.count)
    }
    #expect(pieces.digests() == whole.digests())
    #expect(whole.digests().count == ContentDigest.Algorithm.allCases.count)
  }

  @Test("The tag of a multipart object is the MD5 of its parts' MD5s")
  func tagsParts() {
    let parts = ["d41d8cd98f00b204e9800998ecf8427e", "0cc175b9c0f1b6a831c399e269772661"]
    let joined = parts.flatMap { Hexadecimal.decode($0) ?? [] }
    #expect(
      ObjectTag.parts(parts) == Hexadecimal.encode(Insecure.MD5.hash(data: joined)) + "-2")
  }
}
