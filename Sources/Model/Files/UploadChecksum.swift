/// The checksum that an upload in parts is to have, stated as it begins.
package struct UploadChecksum: Hashable, Sendable {
  package let algorithm: ContentDigest.Algorithm
  package let kind: ChecksumKind

  /// - Parameter kind: nil for the one that S3 takes by itself.
  /// - Returns: nil where S3 does not have the algorithm in this kind: only the checksum of a cyclic
  ///   redundancy check can be put together from those of the parts, and CRC-64/NVME is nothing else.
  package init?(_ algorithm: ContentDigest.Algorithm, _ kind: ChecksumKind? = nil) {
    switch algorithm {
    case .md5: return nil
    case .crc64nvme: guard kind != .composite else { return nil }
    case .sha1, .sha256: guard kind != .fullObject else { return nil }
    case .crc32, .crc32c: break
    }
    self.algorithm = algorithm
    self.kind = kind ?? (algorithm == .crc64nvme ? .fullObject : .composite)
  }
}
