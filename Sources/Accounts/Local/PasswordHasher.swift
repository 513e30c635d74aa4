package import Model
import Storage
import Synchronization
package import Transport

/// Hashes and checks passwords on a pool's threads, as many concurrently as memory is planned for.
/// The places are shared between networks and accounts, see ``HashingQueue``.
package final class PasswordHasher: Sendable {
  /// The result of a password check.
  struct Verdict: Hashable, Sendable {
    let isRight: Bool
    /// Whether the password is right, and its hash is cheaper to attack than new ones.
    let isOutdated: Bool
  }

  /// ``ScryptCost/derive(_:salt:byteCount:)``, or a counting replacement in tests.
  typealias Derivation =
    @Sendable (
      _ password: String, _ salt: [UInt8], _ cost: ScryptCost, _ byteCount: Int
    ) -> [UInt8]?

  private let cost: ScryptCost
  private let pool: BlockingPool
  private let random: RandomBytes
  private let derive: Derivation
  private let state: Mutex<State>
  /// The largest exponent among stored hashes.
  private let dearest: Mutex<Int>

  /// The queue and its waiting jobs, which are resumed with true to start, or with false if
  /// refused.
  private struct State {
    var queue: HashingQueue
    var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
    var nextID = 0
  }

  /// - Parameter pool: as many threads as can hash concurrently; each takes the cost's memory.
  package convenience init(cost: ScryptCost, pool: BlockingPool, random: RandomBytes) {
    self.init(cost: cost, pool: pool, random: random) {
      $2.derive($0, salt: $1, byteCount: $3)
    }
  }

  init(
    cost: ScryptCost, pool: BlockingPool, random: RandomBytes, derive: @escaping Derivation
  ) {
    self.cost = cost
    self.pool = pool
    self.random = random
    self.derive = derive
    state = Mutex(State(queue: HashingQueue(runningMax: pool.threadsMax)))
    dearest = Mutex(cost.exponent)
  }

  /// Records the costs of stored hashes. If settings were lowered, every check takes as much work
  /// as the most expensive stored hash, until none is left at a start.
  func noteStored(_ costs: some Sequence<ScryptCost>) {
    guard let largest = costs.map(\.exponent).max() else { return }
    dearest.withLock { $0 = max($0, largest) }
  }

  func hash(
    _ password: String, for share: HashingShare
  ) async throws(AccountFault) -> PasswordHash {
    let salt = random.bytes(PasswordHash.saltByteCount)
    let cost = cost
    let key = try await run(for: share) { [derive] in
      derive(password, salt, cost, PasswordHash.keyByteCount)
    }
    guard let key else { throw .overloaded }
    return PasswordHash(cost: cost, salt: salt, key: key)
  }

  /// Takes the same work whether or not there is a hash, and whatever its cost: doubling the work
  /// from the hash's own exponent up to the largest adds up to the largest's.
  ///
  /// - Parameter hash: nil without an account; no password is right for it.
  func check(
    _ password: String, against hash: PasswordHash?, for share: HashingShare
  ) async throws(AccountFault) -> Verdict {
    let cost = cost
    let checked =
      hash
      ?? PasswordHash(
        cost: cost, salt: [UInt8](repeating: 0, count: PasswordHash.saltByteCount),
        key: [UInt8](repeating: 0, count: PasswordHash.keyByteCount))
    noteStored([checked.cost])
    let dearest = dearest.withLock { $0 }
    let isRight = try await run(for: share) { [derive] in
      let derived = derive(password, checked.salt, checked.cost, checked.key.count)
      var exponent = checked.cost.exponent
      while exponent < dearest {
        _ = derive(password, checked.salt, cost.with(exponent: exponent), 1)
        exponent += 1
      }
      return derived.map { constantTimeEqual($0, checked.key) }
    }
    guard let isRight else { throw .overloaded }
    let isKnown = hash != nil
    return Verdict(
      isRight: isRight && isKnown,
      isOutdated: isRight && isKnown && checked.cost.isWeaker(than: cost))
  }

  private func run<Value: Sendable>(
    for share: HashingShare, _ job: @escaping @Sendable () -> Value
  ) async throws(AccountFault) -> Value {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    guard await hasTurn(id, share) else { throw .overloaded }
    defer { finish(id) }
    return await pool.run(job)
  }

  /// Waits for the job's turn.
  ///
  /// - Returns: false if it was refused, or displaced by a job of another network.
  private func hasTurn(_ id: Int, _ share: HashingShare) async -> Bool {
    await withCheckedContinuation { continuation in
      let resumed: (CheckedContinuation<Bool, Never>, Bool)? = state.withLock { state in
        switch state.queue.submit(id, share) {
        case .starts: return (continuation, true)
        case .refused: return (continuation, false)
        case .waits:
          state.waiting[id] = continuation
          return nil
        case .displaces(let other):
          state.waiting[id] = continuation
          return state.waiting.removeValue(forKey: other).map { ($0, false) }
        }
      }
      resumed?.0.resume(returning: resumed?.1 ?? false)
    }
  }

  private func finish(_ id: Int) {
    let next = state.withLock { state in
      state.queue.finish(id).flatMap { state.waiting.removeValue(forKey: $0) }
    }
    next?.resume(returning: true)
  }
}

/// Reports the costs of stored password hashes to the hasher, once, before the first check: the
/// configured cost may have been lowered since, and a first sign-in must not reveal which accounts
/// have older hashes.
///
/// Read then and not at start-up, because it scans all accounts.
final class StoredCosts: Sendable {
  private let store: Store
  private let hasher: PasswordHasher
  private let isLoaded = Mutex(false)

  init(store: Store, hasher: PasswordHasher) {
    self.store = store
    self.hasher = hasher
  }

  func load() async throws(StorageError) {
    guard !isLoaded.withLock({ $0 }) else { return }
    hasher.noteStored(try await store.hashingWays().compactMap { PasswordHash.cost(of: $0) })
    isLoaded.withLock { $0 = true }
  }
}
