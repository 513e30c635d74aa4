/// A checksum of a stored object: of its whole content, or of its parts' checksums one after the other.
package struct ObjectChecksum: Hashable, Sendable {
  package let digest: ContentDigest
  /// The number of parts whose checksums the digest is of; nil for a digest of the content.
  package let partCount: Int?

  package init(_ digest: ContentDigest, partCount: Int? = nil) {
    self.digest = digest
    self.partCount = partCount
  }

  package var kind: ChecksumKind { partCount == nil ? .fullObject : .composite }
}
