package import Files
package import Model

/// Files for clients: who may, how much, and then the store.
package struct FileService: Sendable {
  let store: any FileStore
  let gate: FileGate
  let presigner: Presigner
  let clock: WallClock
  /// Nil for a store that others write to as well.
  let smallFiles: SmallFiles?
  /// An upload in parts that is not complete after this is given up.
  let uploadLifetime: Duration

  package init(
    store: any FileStore, rules: [BucketName: BucketRule], isAdminOn: Bool, presigner: Presigner,
    clock: WallClock, uploadLifetime: Duration, smallFiles: SmallFiles?
  ) {
    self.store = store
    gate = FileGate(rules: rules, isAdminOn: isAdminOn)
    self.presigner = presigner
    self.clock = clock
    self.uploadLifetime = uploadLifetime
    self.smallFiles = smallFiles
  }

  /// Makes the buckets that settings name and that are not there.
  package func makeNamedBuckets() async throws(Failure) {
    for name in gate.rules.keys.sorted(by: { $0.text < $1.text }) {
      do throws(FileStoreError) {
        try await store.createBucket(name)
      } catch {
        guard error == .bucketExists else { throw error.failure }
      }
    }
  }

  /// Gives up old uploads, and removes what crashes and cut-off uploads left.
  package func sweep() async throws(Failure) {
    let oldest = clock.now().milliseconds - uploadLifetime.milliseconds
    try await failing { () async throws(FileStoreError) in
      try await store.sweep(uploadsBegunBefore: Timestamp(milliseconds: oldest))
    }
  }

  /// Whether anybody may read a bucket's objects, so that shared caches may keep them.
  package func isPublic(_ bucket: BucketName) -> Bool {
    gate.rule(of: bucket).access == .publicRead
  }

  /// Writes or removes an object, and has nobody read what was there before once it is over.
  func replacing<Answer>(
    _ address: ObjectAddress, _ body: () async throws(FileStoreError) -> Answer
  ) async throws(Failure) -> Answer {
    smallFiles?.forget(address)
    defer { smallFiles?.forget(address) }
    return try await failing(body)
  }

  /// - Throws: unless the request may do this to the object.
  func admit(
    _ grant: FileGrant, to method: FileMethod, _ address: ObjectAddress
  ) throws(Failure) {
    switch grant {
    case .caller(let caller):
      try gate.admit(caller, to: method.action, address)
    case .link(let expires, let signature):
      try presigner.check(method, address, expires: expires, signature: signature)
    }
  }
}
