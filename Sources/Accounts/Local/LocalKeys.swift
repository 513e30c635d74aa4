package import LosslessJSON
package import Model
package import Storage
import Synchronization

/// The private keys that sign local users' tokens, stored sealed.
///
/// A key signs until its successor does, and verifies as long as tokens that it signed can be
/// valid; then it is removed and no longer published.
package final class LocalKeys: KeySource {
  /// The age at which a key gets a successor.
  static let signsFor = Duration.seconds(90 * 86_400)
  /// The time from a key's creation until it signs, so that upstream and its caches have fetched
  /// it.
  static let announcedFor = Duration.seconds(3_600)
  /// The time from the successor's first signature until all tokens signed by a key have expired:
  /// the longest allowed access lifetime is a day, and a second one allows for clock differences.
  static let checksFor = Duration.seconds(2 * 86_400)
  /// The interval between renewals.
  private static let rest = Duration.seconds(3_600)

  private struct Held {
    let key: SigningKey
    let created: Timestamp
  }

  private let store: Store
  private let sealer: Sealer
  private let clock: WallClock
  private let random: RandomBytes
  /// Oldest first; at least one, but on a replica that has none yet.
  private let held: Mutex<[Held]>

  /// Loads the keys, and creates one if none can sign. A key that cannot be decrypted was sealed
  /// under another secret: tokens it has signed are refused from now on.
  ///
  /// - Parameter renews: false on a replica, which verifies with the keys that there are.
  package static func open(
    store: Store, sealer: Sealer, clock: WallClock, random: RandomBytes, renews: Bool = true
  ) async throws(AccountFault) -> LocalKeys {
    let keys = LocalKeys(
      try await read(store, sealer), store: store, sealer: sealer, clock: clock, random: random)
    guard renews else { return keys }
    do throws(AccountFault) {
      try await keys.renew()
    } catch {
      // On a full or read-only disk the current key continues to sign; `run` tries again.
      guard keys.signing != nil else { throw error }
    }
    return keys
  }

  private init(
    _ held: [Held], store: Store, sealer: Sealer, clock: WallClock, random: RandomBytes
  ) {
    self.held = Mutex(held)
    self.store = store
    self.sealer = sealer
    self.clock = clock
    self.random = random
  }

  private static func read(
    _ store: Store, _ sealer: Sealer
  ) async throws(AccountFault) -> [Held] {
    do throws(StorageError) {
      return try await store.signingKeys().compactMap { stored in
        guard let bytes = try? sealer.open(stored.sealed, for: context(stored.id)),
          let key = SigningKey(bytes)
        else { return nil }
        return Held(key: key, created: stored.created)
      }
    } catch {
      throw .unavailable(cause: "\(error)", wasSent: false)
    }
  }

  /// Reads the keys again, after another node has changed them.
  package func reload() async throws(AccountFault) {
    let found = try await Self.read(store, sealer)
    held.withLock { $0 = found }
  }

  private static func context(_ id: String) -> String { "signing-key:\(id)" }

  // MARK: Rotation

  /// Renews the keys periodically until the task is cancelled. If the database cannot be written,
  /// the next round tries again.
  ///
  /// - Parameter sleep: throws once the task is cancelled.
  package func run(sleep: @Sendable (Duration) async throws -> Void) async {
    while (try? await sleep(Self.rest)) != nil { try? await renew() }
  }

  /// Removes keys that are no longer needed, and creates a successor if the newest is due.
  package func renew() async throws(AccountFault) {
    let now = clock.now()
    let (expired, newest) = held.withLock { held in
      let live = Self.live(held, at: now)
      let expired = held.prefix(held.count - live.count).map(\.key.id)
      held = live
      return (expired, held.last?.created)
    }
    if !expired.isEmpty {
      try await storing { () async throws(StorageError) in
        try await store.removeSigningKeys(expired)
      }
    }
    if let newest, newest.elapsed(until: now) < Self.signsFor { return }
    let made = try await make(at: now)
    try await storing { () async throws(StorageError) in try await store.keep(made.sealed) }
    held.withLock { $0.append(made.held) }
  }

  /// Replaces all keys by a new one, which signs at once, for when a key may have leaked. Every
  /// access token issued before is refused from now on; refresh tokens remain valid.
  ///
  /// - Returns: the number of removed keys.
  package func replaceAll() async throws(AccountFault) -> Int {
    let made = try await make(at: clock.now())
    let count = try await storing { () async throws(StorageError) in
      try await store.replaceSigningKeys(with: made.sealed)
    }
    held.withLock { $0 = [made.held] }
    return count
  }

  private func make(
    at now: Timestamp
  ) async throws(AccountFault) -> (held: Held, sealed: SealedKey) {
    let (key, bytes) = SigningKey.make(random: random)
    guard let sealed = try? sealer.seal(bytes, for: Self.context(key.id)) else {
      throw .unavailable(cause: "the signing key could not be sealed", wasSent: false)
    }
    return (
      Held(key: key, created: now), SealedKey(id: key.id, sealed: sealed, created: now)
    )
  }

  private func storing<Value: Sendable>(
    _ operation: () async throws(StorageError) -> Value
  ) async throws(AccountFault) -> Value {
    do throws(StorageError) {
      return try await operation()
    } catch {
      throw .unavailable(cause: "\(error)", wasSent: false)
    }
  }

  // MARK: Use

  /// The keys whose successor has not signed for longer than ``checksFor``.
  private static func live(_ held: [Held], at now: Timestamp) -> [Held] {
    let first = held.indices.first { index in
      guard index + 1 < held.count else { return true }
      return held[index + 1].created.elapsed(until: now) < announcedFor + checksFor
    }
    return first.map { Array(held[$0...]) } ?? []
  }

  private var live: [SigningKey] {
    let now = clock.now()
    return held.withLock { Self.live($0, at: now) }.map(\.key)
  }

  private var set: KeySet { KeySet(keys: live.map(\.verificationKey)) }

  func key(
    id: String?, algorithm: TokenAlgorithm
  ) async throws(TokenFault) -> VerificationKey {
    guard let key = try set.key(id: id, algorithm: algorithm) else { throw .unknownKey }
    return key
  }

  func knows(keyID: String) -> Bool { set.knows(keyID: keyID) }

  /// The public key set for other services, as in `/.well-known/jwks.json`.
  package var published: JSONValue { ["keys": .array(live.map(\.published))] }

  /// The current signing key: the newest that has been published long enough, or the only one.
  var signing: SigningKey? {
    let now = clock.now()
    return held.withLock { held in
      held.last { $0.created.elapsed(until: now) >= Self.announcedFor } ?? held.first
    }?.key
  }
}
