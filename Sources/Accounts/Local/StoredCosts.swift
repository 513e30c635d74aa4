import Storage
import Synchronization

/// Tells the hasher what stored passwords cost, once, before the first check: settings may have gone
/// back to less since they were hashed, and the first sign-in must not tell whose were.
///
/// Asked then and not at a start, since it looks at every account.
final class StoredCosts: Sendable {
  private let store: Store
  private let hasher: PasswordHasher
  private let isTold = Mutex(false)

  init(store: Store, hasher: PasswordHasher) {
    self.store = store
    self.hasher = hasher
  }

  func tell() async throws(StorageError) {
    guard !isTold.withLock({ $0 }) else { return }
    hasher.noteStored(try await store.hashingWays().compactMap { PasswordHash.cost(of: $0) })
    isTold.withLock { $0 = true }
  }
}
