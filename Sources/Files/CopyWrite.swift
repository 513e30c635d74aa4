package import Model

/// How a copy is to be written.
package struct CopyWrite: Hashable, Sendable {
  package var condition: WriteCondition
  package var quota: FileQuota
  /// The checksum that the copy is to have; nil for that of the source.
  package var checksum: ContentDigest.Algorithm?
  /// Nil for those of the source.
  package var tags: TagSet?
  /// How the copy is encrypted; nil for what its bucket says.
  package var encryption: String?

  package init(
    condition: WriteCondition = .none, quota: FileQuota = .none,
    checksum: ContentDigest.Algorithm? = nil, tags: TagSet? = nil, encryption: String? = nil
  ) {
    self.condition = condition
    self.quota = quota
    self.checksum = checksum
    self.tags = tags
    self.encryption = encryption
  }
}
