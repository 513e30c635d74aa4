import Files
package import Model

extension FileService {
  package func createBucket(_ name: BucketName, by caller: Caller) async throws(Failure) {
    try gate.admitOperator(caller)
    try await failing { () async throws(FileStoreError) in try await store.createBucket(name) }
  }

  package func deleteBucket(_ name: BucketName, by caller: Caller) async throws(Failure) {
    try gate.admitOperator(caller)
    try await failing { () async throws(FileStoreError) in try await store.deleteBucket(name) }
  }

  package func buckets(for caller: Caller) async throws(Failure) -> [BucketDescription] {
    try gate.admitOperator(caller)
    return try await failing { () async throws(FileStoreError) in try await store.buckets() }
  }

  /// Whether a bucket is there, for whoever may list in it.
  package func bucket(
    _ name: BucketName, for caller: Caller
  ) async throws(Failure) -> BucketDescription {
    _ = try gate.admitListing(caller, of: name, prefix: "")
    return try await failing { () async throws(FileStoreError) in try await store.bucket(name) }
  }

  /// What is set on a bucket, for whoever may list in it.
  package func settings(
    of bucket: BucketName, for caller: Caller
  ) async throws(Failure) -> BucketSettings {
    _ = try gate.admitListing(caller, of: bucket, prefix: "")
    return try await failing { () async throws(FileStoreError) in
      try await store.settings(of: bucket)
    }
  }

  package func changeSettings(
    of bucket: BucketName, by caller: Caller,
    _ change: @escaping @Sendable (inout BucketSettings) -> Void
  ) async throws(Failure) {
    try gate.admitOperator(caller)
    try await failing { () async throws(FileStoreError) in
      try await store.changeSettings(of: bucket, change)
    }
  }

  /// - Returns: the page, and the prefix it is of: longer than the one asked for where that would
  ///   show others' keys.
  package func list(
    _ bucket: BucketName, _ request: ObjectListRequest, for caller: Caller
  ) async throws(Failure) -> (page: ObjectListPage, prefix: String) {
    var request = request
    request.prefix = try gate.admitListing(caller, of: bucket, prefix: request.prefix)
    let page = try await failing { () async throws(FileStoreError) in
      try await store.list(bucket, request)
    }
    return (page, request.prefix)
  }
}
