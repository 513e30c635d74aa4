package import Model

/// Buckets of files.
extension Store {
  /// - Returns: false where there is one of that name.
  package func createFileBucket(
    _ name: BucketName, at moment: Timestamp
  ) async throws(StorageError) -> Bool {
    try await writer.write(.powerFailure) { database, _ in
      try BucketTable(database: database).insert(name, at: moment)
    }
  }

  /// By name.
  package func fileBuckets() async throws(StorageError) -> [BucketDescription] {
    try await reader.read { try BucketTable(database: $0).describe(nil) }
  }

  package func fileBucket(_ name: BucketName) async throws(StorageError) -> BucketDescription? {
    try await reader.read { try BucketTable(database: $0).describe(name).first }
  }

  /// Removes a bucket that holds nothing.
  package func removeFileBucket(_ name: BucketName) async throws(StorageError) -> BucketRemoval {
    try await writer.write(.powerFailure) { database, _ in
      try BucketTable(database: database).remove(name)
    }
  }
}
