package import Model
import Storage

/// An access key as operators see it. Its secret is told once, when it is made.
package struct S3Key: Hashable, Sendable {
  package let id: String
  /// Nil for a key of the operator's.
  package let user: String?
  /// Nil for all.
  package let buckets: [BucketName]?
  package let isReadOnly: Bool
  package let created: Timestamp
  package let revoked: Timestamp?

  init(_ key: StoredS3Key) {
    id = key.id
    user = key.user
    buckets = key.buckets
    isReadOnly = key.isReadOnly
    created = key.created
    revoked = key.revoked
  }
}
