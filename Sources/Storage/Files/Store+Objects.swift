package import Model

/// The index of stored objects. Writes that were confirmed to a client survive a power failure.
extension Store {
  package func object(at address: ObjectAddress) async throws(StorageError) -> ObjectLookup {
    try await reader.read { database in
      guard let bucket = try BucketTable(database: database).id(of: address.bucket) else {
        return .noSuchBucket
      }
      let object = try ObjectTable(database: database, bucket: bucket).find(address.key)
      return object.map { .found($0) } ?? .noSuchKey
    }
  }

  /// Returns the parts that an object was assembled from, by number; empty for a single-part object.
  package func parts(of object: StoredObject) async throws(StorageError) -> [ObjectPart] {
    try await reader.read { try ObjectPartTable(database: $0).list(of: object.blob) }
  }

  /// Returns the space left in a bucket.
  ///
  /// - Parameter replaced: the object that a write would replace; its bytes count as free.
  /// - Returns: nil if the bucket does not exist.
  package func room(
    in bucket: BucketName, within quota: FileQuota, replacing replaced: ObjectKey?
  ) async throws(StorageError) -> FileRoom? {
    try await reader.read { database in
      guard let number = try BucketTable(database: database).id(of: bucket) else { return nil }
      let old = try replaced.flatMap { try ObjectTable(database: database, bucket: number).row($0) }
      var room = try FileUsage(database: database, bucket: number).room(
        within: quota, freed: old?.size ?? 0)
      room.encryption = try BucketTable(database: database).settings(of: number).encryption
      return room
    }
  }

  /// Writes an object whose content is already on disk; replaces one with the same key.
  package func commitObject(
    _ object: StoredObject, at address: ObjectAddress, if condition: WriteCondition,
    quota: FileQuota
  ) async throws(StorageError) -> ObjectCommit {
    try await writer.write(.powerFailure) { database, _ in
      guard let bucket = try BucketTable(database: database).id(of: address.bucket) else {
        return .noSuchBucket
      }
      return try ObjectWriting(database: database, bucket: bucket)
        .put(object, if: condition, quota: quota)
    }
  }

  /// Replaces an object's tags and leaves everything else unchanged.
  ///
  /// - Returns: the object before the change.
  package func setTags(
    _ tags: TagSet, at address: ObjectAddress
  ) async throws(StorageError) -> ObjectLookup {
    try await writer.write(.powerFailure) { database, _ in
      guard let bucket = try BucketTable(database: database).id(of: address.bucket) else {
        return .noSuchBucket
      }
      let table = ObjectTable(database: database, bucket: bucket)
      guard let found = try table.find(address.key) else { return .noSuchKey }
      var attributes = found.metadata.attributes
      attributes.tags = tags
      try table.set(attributes, of: address.key)
      return .found(found)
    }
  }

  package func removeObject(
    at address: ObjectAddress, if condition: WriteCondition
  ) async throws(StorageError) -> ObjectRemoval {
    try await writer.write(.powerFailure, frees: true) { database, _ in
      guard let bucket = try BucketTable(database: database).id(of: address.bucket) else {
        return .noSuchBucket
      }
      return try ObjectWriting(database: database, bucket: bucket)
        .remove(address.key, if: condition)
    }
  }

  /// - Returns: nil if the bucket does not exist.
  package func listObjects(
    in bucket: BucketName, _ request: ObjectListRequest
  ) async throws(StorageError) -> ObjectListPage? {
    try await longReader.read { database in
      guard let number = try BucketTable(database: database).id(of: bucket) else { return nil }
      var listing = ObjectListing(request, bucket: number, database)
      return try listing.read()
    }
  }

  // MARK: Dead files

  /// Returns dead files, which nothing refers to any more.
  package func deadBlobs(limit: Int) async throws(StorageError) -> [BlobName] {
    try await reader.read { try DeadBlobTable(database: $0).list(limit: limit) }
  }

  /// Removes the records of deleted dead files.
  package func forget(deadBlobs: [BlobName]) async throws(StorageError) {
    try await writer.write { database, _ in
      try DeadBlobTable(database: database).remove(deadBlobs)
    }
  }

  /// Returns those of the files that an object or a part refers to. Reads the whole index.
  package func referredBlobs(
    among blobs: [BlobName]
  ) async throws(StorageError) -> Set<BlobName> {
    try await longReader.read { try DeadBlobTable(database: $0).referred(among: blobs) }
  }
}
