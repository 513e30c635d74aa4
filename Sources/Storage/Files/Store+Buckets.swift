package import Model

/// Buckets of files.
extension Store {
  /// - Returns: false if a bucket with this name exists.
  package func createFileBucket(
    _ name: BucketName, at moment: Timestamp
  ) async throws(StorageError) -> Bool {
    try await writer.write(.powerFailure) { database, _ in
      try BucketTable(database: database).insert(name, at: moment)
    }
  }

  /// Returns all buckets, sorted by name.
  package func fileBuckets() async throws(StorageError) -> [BucketDescription] {
    try await reader.read { try BucketTable(database: $0).describe(nil) }
  }

  package func fileBucket(_ name: BucketName) async throws(StorageError) -> BucketDescription? {
    try await reader.read { try BucketTable(database: $0).describe(name).first }
  }

  /// - Returns: nil if the bucket does not exist.
  package func settings(
    ofFileBucket name: BucketName
  ) async throws(StorageError) -> BucketSettings? {
    try await reader.read { database in
      let table = BucketTable(database: database)
      return try table.id(of: name).map { try table.settings(of: $0) }
    }
  }

  /// - Returns: false if the bucket does not exist.
  package func changeSettings(
    ofFileBucket name: BucketName, _ change: @escaping @Sendable (inout BucketSettings) -> Void
  ) async throws(StorageError) -> Bool {
    try await writer.write(.powerFailure) { database, _ in
      let table = BucketTable(database: database)
      guard let id = try table.id(of: name) else { return false }
      var settings = try table.settings(of: id)
      change(&settings)
      try table.set(settings, of: id)
      return true
    }
  }

  /// Removes an empty bucket together with its unfinished uploads.
  package func removeFileBucket(_ name: BucketName) async throws(StorageError) -> BucketRemoval {
    try await writer.write(.powerFailure) { database, _ in
      try BucketTable(database: database).remove(name)
    }
  }
}
