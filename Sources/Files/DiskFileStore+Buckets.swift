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
    case .removed: return
    case .noSuchBucket: throw .noSuchBucket
    case .notEmpty: throw .bucketNotEmpty
    }
  }
}
