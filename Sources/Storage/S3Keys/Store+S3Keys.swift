package import Model

/// S3 access keys. Changes that were confirmed to an operator survive a power failure: a revoked key must
/// not become valid again.
extension Store {
  /// - Returns: false, with nothing stored, if there are already `keysMax` keys.
  package func keep(_ key: StoredS3Key, keysMax: Int) async throws(StorageError) -> Bool {
    try await writer.write(.powerFailure) { database, _ in
      let table = S3KeyTable(database: database)
      guard try table.count() < keysMax else { return false }
      try table.insert(key)
      return true
    }
  }

  package func s3Key(_ id: String) async throws(StorageError) -> StoredS3Key? {
    try await reader.read { try S3KeyTable(database: $0).find(id) }
  }

  /// Returns all keys, including revoked ones, oldest first.
  package func s3Keys(limit: Int) async throws(StorageError) -> [StoredS3Key] {
    try await reader.read { try S3KeyTable(database: $0).all(limit: limit) }
  }

  /// - Returns: false if the key does not exist or was already revoked.
  package func revokeS3Key(_ id: String, at moment: Timestamp) async throws(StorageError) -> Bool {
    try await writer.write(.powerFailure) { database, _ in
      try S3KeyTable(database: database).revoke(id, at: moment)
    }
  }
}

/// A stored S3 access key, with the user it acts for and its permissions.
package struct StoredS3Key: Hashable, Sendable {
  package let id: String
  package let sealedSecret: [UInt8]
  /// The user that requests signed with the key act for; nil for the operator.
  package let user: String?
  /// The only buckets visible to the key; nil for all.
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
