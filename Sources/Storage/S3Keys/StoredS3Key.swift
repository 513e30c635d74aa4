package import Model

/// An access key as it is stored: whose requests it signs, and what they may do at most.
package struct StoredS3Key: Hashable, Sendable {
  package let id: String
  package let sealedSecret: [UInt8]
  /// The user whose requests they are; nil for the operator's.
  package let user: String?
  /// The only ones there are for it; nil for all.
  package let buckets: [BucketName]?
  package let isReadOnly: Bool
  package let created: Timestamp
  package let revoked: Timestamp?

  package init(
    id: String, sealedSecret: [UInt8], user: String?, buckets: [BucketName]?, isReadOnly: Bool,
    created: Timestamp, revoked: Timestamp? = nil
  ) {
    self.id = id
    self.sealedSecret = sealedSecret
    self.user = user
    self.buckets = buckets
    self.isReadOnly = isReadOnly
    self.created = created
    self.revoked = revoked
  }
}
