package import Model

/// Access keys. What an operator was told of them survives a power failure: a key that was revoked
/// must not come back.
extension Store {
  /// - Returns: false, with nothing kept, where there are `keysMax` already.
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

  /// The oldest first; those that were revoked too.
  package func s3Keys(limit: Int) async throws(StorageError) -> [StoredS3Key] {
    try await reader.read { try S3KeyTable(database: $0).all(limit: limit) }
  }

  /// - Returns: false where there is none such that is good.
  package func revokeS3Key(_ id: String, at moment: Timestamp) async throws(StorageError) -> Bool {
    try await writer.write(.powerFailure) { database, _ in
      try S3KeyTable(database: database).revoke(id, at: moment)
    }
  }
}
