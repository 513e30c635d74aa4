import Cryptography
package import Model

/// The digests of content, computed incrementally: always MD5, from which entity tags are made, and
/// those requested.
package struct ContentHashing: ~Copyable, Sendable {
  private var md5 = RunningHash<Insecure.MD5>()
  private var sha1: RunningHash<Insecure.SHA1>?
  private var sha256: RunningHash<SHA256>?
  private var checksums: [ContentDigest.Algorithm: CyclicChecksum] = [:]

  package init(_ algorithms: some Sequence<ContentDigest.Algorithm> = []) {
    for algorithm in algorithms {
      switch algorithm {
      case .md5: break
      case .sha1: sha1 = RunningHash()
      case .sha256: sha256 = RunningHash()
      case .crc32: checksums[algorithm] = CyclicChecksum(.crc32)
      case .crc32c: checksums[algorithm] = CyclicChecksum(.crc32c)
      case .crc64nvme: checksums[algorithm] = CyclicChecksum(.crc64nvme)
      }
    }
  }

  package mutating func update(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { buffer in
      md5.update(bufferPointer: buffer)
      sha1?.update(bufferPointer: buffer)
      sha256?.update(bufferPointer: buffer)
    }
    for algorithm in checksums.keys { checksums[algorithm]?.update(bytes) }
  }

  /// The digests by algorithm.
  package borrowing func digests() -> [ContentDigest.Algorithm: ContentDigest] {
    var digests: [ContentDigest.Algorithm: ContentDigest] = [:]
    func add(_ algorithm: ContentDigest.Algorithm, _ bytes: [UInt8]?) {
      digests[algorithm] = bytes.flatMap { ContentDigest(algorithm, $0) }
    }
    add(.md5, Array(md5.finalize()))
    add(.sha1, (sha1?.finalize()).map { Array($0) })
    add(.sha256, (sha256?.finalize()).map { Array($0) })
    for (algorithm, checksum) in checksums { add(algorithm, checksum.bytes) }
    return digests
  }
}
