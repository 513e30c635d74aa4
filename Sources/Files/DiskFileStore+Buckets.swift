package import Model
import Storage

extension DiskFileStore {
  package func createBucket(_ name: BucketName) async throws(FileStoreError) {
    let isNew = try await indexed { () async throws(StorageError) in
      try await store.createFileBucket(name, at: clock.now())
    }
    guard isNew else { throw .bucketExists }
  }

  package func buckets() async throws(FileStoreError) -> [BucketDescription] {
    try await indexed { () async throws(StorageError) in try await store.fileBuckets() }
  }

  package func bucket(_ name: BucketName) async throws(FileStoreError) -> BucketDescription {
    let bucket = try await indexed { () async throws(StorageError) in
      try await store.fileBucket(name)
    }
    guard let bucket else { throw .noSuchBucket }
    return bucket
  }

  package func deleteBucket(_ name: BucketName) async throws(FileStoreError) {
    let removal = try await indexed { () async throws(StorageError) in
      try await store.removeFileBucket(name)
    }
    switch removal {
    case .removed(let dead): await removeFiles(dead)
    case .noSuchBucket: throw .noSuchBucket
    case .notEmpty: throw .bucketNotEmpty
    }
  }

  package func settings(of bucket: BucketName) async throws(FileStoreError) -> BucketSettings {
    let settings = try await indexed { () async throws(StorageError) in
      try await store.settings(ofFileBucket: bucket)
    }
    guard let settings else { throw .noSuchBucket }
    return settings
  }

  package func changeSettings(
    of bucket: BucketName, _ change: @escaping @Sendable (inout BucketSettings) -> Void
  ) async throws(FileStoreError) {
    let isThere = try await indexed { () async throws(StorageError) in
      try await store.changeSettings(ofFileBucket: bucket, change)
    }
    guard isThere else { throw .noSuchBucket }
  }
}
