import Model
import TestSupport
import Testing

@testable import Files

struct ChecksumCombinationTests {
  private static let algorithms: [ContentDigest.Algorithm] = [.crc32, .crc32c, .crc64nvme]

  private static func digest(
    _ algorithm: ContentDigest.Algorithm, _ bytes: [UInt8]
  ) throws -> ContentDigest {
    var hashing = ContentHashing([algorithm])
    hashing.update(bytes)
    return try #require(hashing.digests()[algorithm])
  }

  @Test("Combined checksums of two ranges equal that of the whole", arguments: algorithms)
  func joinsStretches(algorithm: ContentDigest.Algorithm) throws {
    var random = SeededGenerator(seed: 11)
    let combination = try #require(ChecksumCombination(algorithm))
    for count in [0, 1, 7, 8, 255, 4097, 70_001] {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      let whole = try Self.digest(algorithm, bytes)
      for cut in Set([0, 1, count / 3, count - 1, count]) where (0...count).contains(cut) {
        let second = Array(bytes[cut...])
        let joined = combination.join(
          try Self.digest(algorithm, Array(bytes[..<cut])).bytes,
          try Self.digest(algorithm, second).bytes, byteCount: second.count)
        #expect(joined == whole.bytes, "\(count) cut at \(cut)")
      }
    }
  }

  @Test(
    "Other digests cannot be combined", arguments: [ContentDigest.Algorithm.md5, .sha1, .sha256])
  func joinsNoOthers(algorithm: ContentDigest.Algorithm) {
    #expect(ChecksumCombination(algorithm) == nil)
  }

  @Test("The checksum of an object is computed from its parts, in the requested kind")
  func combinesParts() throws {
    let contents = [[UInt8](repeating: 1, count: 5000), [UInt8](repeating: 2, count: 300)]
    func parts(_ algorithm: ContentDigest.Algorithm) throws -> [UploadPart] {
      try contents.enumerated().map { index, bytes in
        UploadPart(
          number: index + 1, size: bytes.count, tag: "", modified: Timestamp(milliseconds: 0),
          checksum: try Self.digest(algorithm, bytes))
      }
    }
    for algorithm in Self.algorithms {
      let whole = PartChecksums.combine(
        try parts(algorithm), as: UploadChecksum(algorithm, .fullObject))
      #expect(whole == ObjectChecksum(try Self.digest(algorithm, contents[0] + contents[1])))
    }
    for algorithm in [ContentDigest.Algorithm.crc32, .sha1, .sha256] {
      let all = try parts(algorithm)
      let bytes = all.flatMap { $0.checksum?.bytes ?? [] }
      let expected = ObjectChecksum(try Self.digest(algorithm, bytes), partCount: 2)
      let asked = PartChecksums.combine(
        all, as: UploadChecksum(algorithm, .composite))
      #expect(asked == expected)
      #expect(PartChecksums.combine(all, as: nil) == expected)
    }
    let mixed = [try parts(.crc32)[0], try parts(.sha1)[1]]
    #expect(PartChecksums.combine(mixed, as: nil) == nil)
  }

  @Test("A kind that S3 does not support with an algorithm is refused")
  func refusesKinds() {
    #expect(UploadChecksum(.crc64nvme, .composite) == nil)
    #expect(UploadChecksum(.sha256, .fullObject) == nil)
    #expect(UploadChecksum(.md5) == nil)
    #expect(UploadChecksum(.crc64nvme)?.kind == .fullObject)
    #expect(UploadChecksum(.crc32)?.kind == .composite)
  }
}
