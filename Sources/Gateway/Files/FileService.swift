package import Files
package import Model

/// Files for clients: checks access and quotas, then uses the store.
package struct FileService: Sendable {
  let store: any FileStore
  let gate: FileGate
  let presigner: Presigner
  let clock: WallClock
  /// Nil for a store that other services write to as well.
  let smallFiles: SmallFiles?
  /// The age at which an incomplete multipart upload is aborted.
  let uploadLifetime: Duration
  private let disabled: DisabledAccounts

  package init(
    store: any FileStore, rules: [BucketName: BucketRule], isAdminOn: Bool, presigner: Presigner,
    clock: WallClock, uploadLifetime: Duration, smallFiles: SmallFiles?,
    disabled: DisabledAccounts = DisabledAccounts()
  ) {
    self.disabled = disabled
    self.store = store
    gate = FileGate(rules: rules, isAdminOn: isAdminOn)
    self.presigner = presigner
    self.clock = clock
    self.uploadLifetime = uploadLifetime
    self.smallFiles = smallFiles
  }

  /// Creates the buckets that settings name and that do not exist.
  package func makeNamedBuckets() async throws(Failure) {
    for name in gate.rules.keys.sorted(by: { $0.text < $1.text }) {
      do throws(FileStoreError) {
        try await store.createBucket(name)
      } catch {
        guard error == .bucketExists else { throw error.failure }
      }
    }
  }

  /// Aborts old uploads, and removes the remains of crashes and interrupted uploads.
  package func sweep() async throws(Failure) {
    let oldest = clock.now().milliseconds - uploadLifetime.milliseconds
    try await failing { () async throws(FileStoreError) in
      try await store.sweep(uploadsBegunBefore: Timestamp(milliseconds: oldest))
    }
  }

  /// Whether a bucket's objects are public, so that shared caches can keep them.
  package func isPublic(_ bucket: BucketName) -> Bool {
    gate.rule(of: bucket).access == .publicRead
  }

  /// Writes or removes an object, and invalidates its cached content before and after.
  func replacing<Value>(
    _ address: ObjectAddress, _ body: () async throws(FileStoreError) -> Value
  ) async throws(Failure) -> Value {
    smallFiles?.forget(address)
    defer { smallFiles?.forget(address) }
    return try await failing(body)
  }

  /// - Throws: if the grant does not allow the method for the object.
  func admit(
    _ grant: FileGrant, to method: FileMethod, _ address: ObjectAddress
  ) throws(Failure) {
    switch grant {
    case .caller(let caller):
      try gate.admit(caller, to: method.action, address)
    case .link(let expires, let signature):
      try presigner.check(method, address, expires: expires, signature: signature)
      // A link is as good as its maker: the files of a disabled account are closed to links, too.
      try disabled.admit(gate.quota(of: address).owner)
    }
  }
}

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

  /// Describes a bucket, for callers that can list it.
  package func bucket(
    _ name: BucketName, for caller: Caller
  ) async throws(Failure) -> BucketDescription {
    _ = try gate.admitListing(caller, of: name, prefix: "")
    return try await failing { () async throws(FileStoreError) in try await store.bucket(name) }
  }

  /// The settings of a bucket, for callers that can list it.
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

  /// - Returns: the page and its prefix, which is longer than the requested one if that would
  ///   include other users' keys.
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

extension FileService {
  /// Forgets what it has in memory of objects, because the log has changed some.
  package func noteApplied() { smallFiles?.forgetAll() }
}
