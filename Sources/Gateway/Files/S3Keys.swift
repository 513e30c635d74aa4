package import Accounts
package import Model
package import Storage
import Synchronization

/// Access keys for the S3 interface: created, listed and revoked by operators, and looked up to
/// verify signatures.
///
/// Signatures need the secret itself, so it is stored sealed and not as a hash. Decrypted keys are
/// cached in memory; a revoked key is removed before the revocation's response, and a look-up in
/// progress in the meantime caches nothing.
package final class S3Keys: Sendable {
  /// A new key with its secret, which is shown only once.
  package struct Issued: Sendable {
    package let key: S3Key
    package let secret: String
  }

  /// Maximum number of keys, including revoked ones: they are listed on one page.
  package static let keysMax = 10_000

  private static let idPrefix = "LARDER"
  private static let idAlphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
  /// With the prefix, as long as the ids that clients expect.
  private static let idCharacters = 14
  /// 40 characters.
  private static let secretByteCount = 30
  /// Maximum cached keys; beyond it the cache is emptied.
  private static let openedMax = 1000

  private struct Memory {
    var opened: [String: S3Credential] = [:]
    var revocations = 0
  }

  private let store: Store
  private let sealer: Sealer
  private let clock: WallClock
  private let random: RandomBytes
  private let disabled: DisabledAccounts
  private let memory = Mutex(Memory())

  package init(
    store: Store, sealer: Sealer, clock: WallClock, random: RandomBytes,
    disabled: DisabledAccounts = DisabledAccounts()
  ) {
    self.disabled = disabled
    self.store = store
    self.sealer = sealer
    self.clock = clock
    self.random = random
  }

  package func issue(
    user: String?, buckets: [BucketName]?, isReadOnly: Bool
  ) async throws(Failure) -> Issued {
    let id =
      Self.idPrefix
      + String(
        decoding: random.bytes(Self.idCharacters).map { Self.idAlphabet[Int($0 & 31)] },
        as: UTF8.self)
    let secret = Base64URL.encode(random.bytes(Self.secretByteCount))
    let sealed: [UInt8]
    do throws(SealFault) {
      sealed = try sealer.seal(Array(secret.utf8), for: Self.context(id))
    } catch {
      throw Failure(.internal, "The access key could not be stored.", cause: "\(error)")
    }
    let key = StoredS3Key(
      id: id, sealedSecret: sealed, user: user, buckets: buckets, isReadOnly: isReadOnly,
      created: clock.now())
    let isKept = try await reaching { () async throws(StorageError) in
      try await store.keep(key, keysMax: Self.keysMax)
    }
    guard isKept else {
      throw Failure(.forbidden, "The limit of \(Self.keysMax) access keys is reached.")
    }
    return Issued(key: S3Key(key), secret: secret)
  }

  /// All keys, oldest first, including revoked ones.
  package func all() async throws(Failure) -> [S3Key] {
    try await reaching { () async throws(StorageError) in
      try await store.s3Keys(limit: Self.keysMax)
    }.map { S3Key($0) }
  }

  /// Revokes a key; its signatures are refused from now on.
  package func revoke(_ id: String) async throws(Failure) {
    let isRevoked = try await reaching { () async throws(StorageError) in
      try await store.revokeS3Key(id, at: clock.now())
    }
    memory.withLock { memory in
      memory.opened[id] = nil
      memory.revocations += 1
    }
    guard isRevoked else { throw Failure(.notFound, "There is no active access key with this id.") }
  }

  /// The active key; nil if there is none.
  ///
  /// - Throws: also for a key of a disabled account.
  package func credential(_ id: String) async throws(Failure) -> S3Credential? {
    let credential = try await active(id)
    try disabled.admit(credential?.grant.caller.user)
    return credential
  }

  private func active(_ id: String) async throws(Failure) -> S3Credential? {
    let (known, revocations) = memory.withLock { ($0.opened[id], $0.revocations) }
    if let known { return known }
    let found = try await reaching { () async throws(StorageError) in try await store.s3Key(id) }
    guard let found, found.revoked == nil else { return nil }
    // A secret that cannot be decrypted was sealed under another service key: it is lost.
    guard let bytes = try? sealer.open(found.sealedSecret, for: Self.context(id)),
      let secret = String(validating: bytes, as: UTF8.self)
    else { return nil }
    let credential = S3Credential(
      id: id, secret: secret,
      grant: S3Grant(
        caller: found.user.map { Caller(subject: $0, user: $0) } ?? Caller(isAdmin: true),
        buckets: found.buckets.map { Set($0) }, isReadOnly: found.isReadOnly))
    memory.withLock { memory in
      guard memory.revocations == revocations else { return }
      if memory.opened.count >= Self.openedMax { memory.opened = [:] }
      memory.opened[id] = credential
    }
    return credential
  }

  /// Drops the keys in memory, because the log has changed keys.
  package func noteApplied() {
    memory.withLock { memory in
      memory.opened = [:]
      memory.revocations += 1
    }
  }

  private static func context(_ id: String) -> String { "s3-key:\(id)" }

  private func reaching<Value>(
    _ body: () async throws(StorageError) -> Value
  ) async throws(Failure) -> Value {
    do throws(StorageError) {
      return try await body()
    } catch {
      throw Failure(
        .storageUnavailable, "The database is unavailable; retry later.", retry: .after,
        retryAfter: .seconds(1), cause: "\(error)")
    }
  }
}

/// An access key as shown to operators. Its secret is shown only once, when it is created.
package struct S3Key: Hashable, Sendable {
  package let id: String
  /// Nil for an operator's key.
  package let user: String?
  /// The accessible buckets; nil for all.
  package let buckets: [BucketName]?
  package let isReadOnly: Bool
  package let created: Timestamp
  package let revoked: Timestamp?

  init(_ key: StoredS3Key) {
    id = key.id
    user = key.user
    buckets = key.buckets
    isReadOnly = key.isReadOnly
    created = key.created
    revoked = key.revoked
  }
}

/// An access key with its decrypted secret and its rights.
package struct S3Credential: Sendable {
  package let id: String
  package let secret: String
  package let grant: S3Grant
}

/// The rights of an S3 request: its caller's, restricted by its access key.
package struct S3Grant: Sendable {
  package let caller: Caller
  /// The accessible buckets; nil for all.
  package let buckets: Set<BucketName>?
  package let isReadOnly: Bool

  /// The rights of an unsigned request: public reads.
  package static let anonymous = S3Grant(caller: .anonymous, buckets: nil, isReadOnly: true)

  package func reaches(_ bucket: BucketName) -> Bool { buckets?.contains(bucket) ?? true }
}
