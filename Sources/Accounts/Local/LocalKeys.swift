package import LosslessJSON
package import Model
package import Sealing
package import Storage

/// The keys this service signs its users' tokens with: private ones sealed in the store, the newest
/// of which signs.
package struct LocalKeys: KeySource {
  /// Past this a new key signs, from the next start on; older ones check what they have signed.
  private static let signsFor = Duration.seconds(90 * 86_400)

  private let keys: [SigningKey]
  private let set: KeySet

  /// Reads the keys, and makes one where there is none that may sign. A key that does not open was
  /// sealed under another secret: tokens it has signed are refused from now on.
  package static func open(
    store: Store, sealer: Sealer, clock: WallClock, random: RandomBytes
  ) async throws(AccountFault) -> LocalKeys {
    let now = clock.now()
    do throws(StorageError) {
      var keys: [SigningKey] = []
      var newest: Timestamp?
      for stored in try await store.signingKeys() {
        guard let bytes = try? sealer.open(stored.sealed, for: context(stored.id)),
          let key = await SigningKey.read(bytes)
        else { continue }
        keys.append(key)
        newest = stored.created
      }
      if let newest, newest.elapsed(until: now) < signsFor { return LocalKeys(keys) }
      let (key, bytes) = await SigningKey.make(random: random)
      guard let sealed = try? sealer.seal(bytes, for: context(key.id)) else {
        throw StorageError.failed(code: 0, message: "the signing key was not sealed")
      }
      try await store.keep(SealedKey(id: key.id, sealed: sealed, created: now))
      return LocalKeys(keys + [key])
    } catch {
      throw .unavailable(cause: "\(error)", wasSent: false)
    }
  }

  private static func context(_ id: String) -> String { "signing-key:\(id)" }

  private init(_ keys: [SigningKey]) {
    self.keys = keys
    set = KeySet(keys: keys.map(\.verificationKey))
  }

  func key(
    id: String?, algorithm: TokenAlgorithm
  ) async throws(TokenFault) -> VerificationKey {
    guard let key = try set.key(id: id, algorithm: algorithm) else { throw .unknownKey }
    return key
  }

  func knows(keyID: String) -> Bool { set.knows(keyID: keyID) }

  /// The key set that others check our tokens with, as `/.well-known/jwks.json` gives it.
  package var published: JSONValue { ["keys": .array(keys.map(\.published))] }

  var newest: SigningKey? { keys.last }
}
