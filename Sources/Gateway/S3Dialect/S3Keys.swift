package import Model
package import Sealing
package import Storage
import Synchronization

/// Access keys for the S3 dialect: made, listed and revoked by operators, found by those who verify
/// signatures.
///
/// Signatures need the secret itself, so it is stored sealed and not as a hash. Opened keys stay in
/// memory; one that is revoked is forgotten before that is answered, and a look-up that was under
/// way meanwhile keeps nothing.
package final class S3Keys: Sendable {
  /// A key that has just been made, with the one showing of its secret.
  package struct Issued: Sendable {
    package let key: S3Key
    package let secret: String
  }

  /// Keys there may be, the revoked ones counted: they are listed on one page.
  package static let keysMax = 10_000

  private static let idPrefix = "LARDER"
  private static let idAlphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
  /// With the prefix as long as those that clients know.
  private static let idCharacters = 14
  /// 40 characters.
  private static let secretByteCount = 30
  /// Past this the opened keys are dropped and gather anew.
  private static let openedMax = 1000

  private struct Memory {
    var opened: [String: S3Credential] = [:]
    var revocations = 0
  }

  private let store: Store
  private let sealer: Sealer
  private let clock: WallClock
  private let random: RandomBytes
  private let memory = Mutex(Memory())

  package init(store: Store, sealer: Sealer, clock: WallClock, random: RandomBytes) {
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
      throw Failure(.internal, "The key cannot be kept.", cause: "\(error)")
    }
    let key = StoredS3Key(
      id: id, sealedSecret: sealed, user: user, buckets: buckets, isReadOnly: isReadOnly,
      created: clock.now())
    let isKept = try await reaching { () async throws(StorageError) in
      try await store.keep(key, keysMax: Self.keysMax)
    }
    guard isKept else {
      throw Failure(.forbidden, "There are \(Self.keysMax) keys, and no more are kept.")
    }
    return Issued(key: S3Key(key), secret: secret)
  }

  /// The oldest first; those that were revoked too.
  package func all() async throws(Failure) -> [S3Key] {
    try await reaching { () async throws(StorageError) in
      try await store.s3Keys(limit: Self.keysMax)
    }.map { S3Key($0) }
  }

  /// Has a key sign nothing any more.
  package func revoke(_ id: String) async throws(Failure) {
    let isRevoked = try await reaching { () async throws(StorageError) in
      try await store.revokeS3Key(id, at: clock.now())
    }
    memory.withLock { memory in
      memory.opened[id] = nil
      memory.revocations += 1
    }
    guard isRevoked else { throw Failure(.notFound, "There is no such key that is good.") }
  }

  /// The key that is good now; nil where there is none.
  func credential(_ id: String) async throws(Failure) -> S3Credential? {
    let (known, revocations) = memory.withLock { ($0.opened[id], $0.revocations) }
    if let known { return known }
    let found = try await reaching { () async throws(StorageError) in try await store.s3Key(id) }
    guard let found, found.revoked == nil else { return nil }
    // A secret that does not open was sealed under another key of the service: it is lost.
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

  private static func context(_ id: String) -> String { "s3-key:\(id)" }

  private func reaching<Answer>(
    _ body: () async throws(StorageError) -> Answer
  ) async throws(Failure) -> Answer {
    do throws(StorageError) {
      return try await body()
    } catch {
      throw Failure(
        .storageUnavailable, "The store cannot be reached at present.", retry: .after,
        retryAfter: .seconds(1), cause: "\(error)")
    }
  }
}
