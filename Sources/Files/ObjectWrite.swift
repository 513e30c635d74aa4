package import Model

/// The parameters of writing an object.
package struct ObjectWrite: Hashable, Sendable {
  package var attributes: ObjectAttributes
  package var condition: WriteCondition
  package var quota: FileQuota

  package init(
    attributes: ObjectAttributes = ObjectAttributes(), condition: WriteCondition = .none,
    quota: FileQuota = .none
  ) {
    self.attributes = attributes
    self.condition = condition
    self.quota = quota
  }
}

/// The parameters of writing a copy.
package struct CopyWrite: Hashable, Sendable {
  package var condition: WriteCondition
  package var quota: FileQuota
  /// The checksum of the copy; nil for that of the source.
  package var checksum: ContentDigest.Algorithm?
  /// Nil for those of the source.
  package var tags: TagSet?
  /// The encryption of the copy; nil for the default of its bucket.
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
