package import LosslessJSON
package import Model
package import Sealing
package import Storage
import Synchronization

/// The keys this service signs its users' tokens with: private ones, sealed in the store.
///
/// A key signs until its successor does, and checks what it has signed for as long as that may be
/// good; then it is dropped and published no more.
package final class LocalKeys: KeySource {
  /// Past this a key gets a successor.
  static let signsFor = Duration.seconds(90 * 86_400)
  /// From its making until a key signs, so that upstream and its caches have fetched it.
  static let announcedFor = Duration.seconds(3_600)
  /// From the successor's first signature until nothing that a key has signed is good: the longest
  /// access lifetime that settings allow is a day, and another one is for clocks.
  static let checksFor = Duration.seconds(2 * 86_400)
  /// Between looks at which keys are due.
  private static let rest = Duration.seconds(3_600)

  private struct Held {
    let key: SigningKey
    let created: Timestamp
  }

  private let store: Store
  private let sealer: Sealer
  private let clock: WallClock
  private let random: RandomBytes
  /// The oldest first; one at least.
  private let held: Mutex<[Held]>

  /// Reads the keys, and makes one where there is none that may sign. A key that does not open was
  /// sealed under another secret: tokens it has signed are refused from now on.
  package static func open(
    store: Store, sealer: Sealer, clock: WallClock, random: RandomBytes
  ) async throws(AccountFault) -> LocalKeys {
    var held: [Held] = []
    do throws(StorageError) {
      for stored in try await store.signingKeys() {
        guard let bytes = try? sealer.open(stored.sealed, for: context(stored.id)),
          let key = SigningKey(bytes)
        else { continue }
        held.append(Held(key: key, created: stored.created))
      }
    } catch {
      throw .unavailable(cause: "\(error)", wasSent: false)
    }
    let keys = LocalKeys(held, store: store, sealer: sealer, clock: clock, random: random)
    do throws(AccountFault) {
      try await keys.renew()
    } catch {
      // On a full or read-only disk the present key signs on; `run` tries again.
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

  private static func context(_ id: String) -> String { "signing-key:\(id)" }

  // MARK: Coming and going

  /// Renews the keys until the task is cancelled. A store that cannot be written is tried again.
  ///
  /// - Parameter sleep: throws once the task is cancelled.
  package func run(sleep: @Sendable (Duration) async throws -> Void) async {
    while (try? await sleep(Self.rest)) != nil { try? await renew() }
  }

  /// Drops the keys that check nothing any more, and makes a successor where the newest is due.
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

  /// Replaces all keys by a new one, which signs at once: for when one of them may be known to
  /// somebody else. Every access token that was given is refused from now on; refresh tokens are
  /// good as before.
  ///
  /// - Returns: how many keys are gone.
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
      throw .unavailable(cause: "the signing key was not sealed", wasSent: false)
    }
    return (
      Held(key: key, created: now), SealedKey(id: key.id, sealed: sealed, created: now)
    )
  }

  private func storing<Answer: Sendable>(
    _ operation: () async throws(StorageError) -> Answer
  ) async throws(AccountFault) -> Answer {
    do throws(StorageError) {
      return try await operation()
    } catch {
      throw .unavailable(cause: "\(error)", wasSent: false)
    }
  }

  // MARK: Using

  /// Those whose successor has not signed for longer than ``checksFor``.
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

  /// The key set that others check our tokens with, as `/.well-known/jwks.json` gives it.
  package var published: JSONValue { ["keys": .array(live.map(\.published))] }

  /// The key that signs now: the newest that was announced for long enough, or the only one.
  var signing: SigningKey? {
    let now = clock.now()
    return held.withLock { held in
      held.last { $0.created.elapsed(until: now) >= Self.announcedFor } ?? held.first
    }?.key
  }
}
