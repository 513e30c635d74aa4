package import Model
import Synchronization
package import Transport

/// Hashes and checks passwords on a pool's threads, as many at once as memory is meant for and no
/// endless queue behind them.
package final class PasswordHasher: Sendable {
  /// What a check found.
  struct Verdict: Hashable, Sendable {
    let isRight: Bool
    /// The password is right, and its hash is cheaper to attack than new ones are.
    let isOutdated: Bool
  }

  /// Waiting and under way. With three a second and a core, later ones would wait longer than their
  /// clients do.
  private static let jobsMax = 32

  /// ``Scrypt/derive(_:salt:cost:byteCount:)``, or what counts in its place.
  typealias Derivation =
    @Sendable (
      _ password: String, _ salt: [UInt8], _ cost: ScryptCost, _ byteCount: Int
    ) -> [UInt8]?

  private let cost: ScryptCost
  private let pool: BlockingPool
  private let random: RandomBytes
  private let derive: Derivation
  private let jobs = Mutex(0)
  /// The largest exponent among hashes that may be checked.
  private let dearest: Mutex<Int>

  /// - Parameter pool: of as many threads as may hash at once; each takes the cost's memory.
  package convenience init(cost: ScryptCost, pool: BlockingPool, random: RandomBytes) {
    self.init(cost: cost, pool: pool, random: random) {
      Scrypt.derive($0, salt: $1, cost: $2, byteCount: $3)
    }
  }

  init(
    cost: ScryptCost, pool: BlockingPool, random: RandomBytes, derive: @escaping Derivation
  ) {
    self.cost = cost
    self.pool = pool
    self.random = random
    self.derive = derive
    dearest = Mutex(cost.exponent)
  }

  /// Hashes of such costs are stored. Where settings went back to less, every check takes what the
  /// dearest of them does, until none is left at a start.
  func noteStored(_ costs: some Sequence<ScryptCost>) {
    guard let largest = costs.map(\.exponent).max() else { return }
    dearest.withLock { $0 = max($0, largest) }
  }

  func hash(_ password: String) async throws(AccountFault) -> PasswordHash {
    let salt = random.bytes(PasswordHash.saltByteCount)
    let cost = cost
    let key = try await run { [derive] in
      derive(password, salt, cost, PasswordHash.keyByteCount)
    }
    guard let key else { throw .overloaded }
    return PasswordHash(cost: cost, salt: salt, key: key)
  }

  /// Takes the same work whether there is a hash or none, and whatever it cost to make: doubling the
  /// exponent's power from its own to the dearest there is adds up to what that one takes.
  ///
  /// - Parameter hash: nil where there is no account; no password is right for it.
  func check(
    _ password: String, against hash: PasswordHash?
  ) async throws(AccountFault) -> Verdict {
    let cost = cost
    let checked =
      hash
      ?? PasswordHash(
        cost: cost, salt: [UInt8](repeating: 0, count: PasswordHash.saltByteCount),
        key: [UInt8](repeating: 0, count: PasswordHash.keyByteCount))
    noteStored([checked.cost])
    let dearest = dearest.withLock { $0 }
    let isRight = try await run { [derive] in
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

  private func run<Answer: Sendable>(
    _ job: @escaping @Sendable () -> Answer
  ) async throws(AccountFault) -> Answer {
    let isTaken = jobs.withLock { jobs in
      guard jobs < Self.jobsMax else { return false }
      jobs += 1
      return true
    }
    guard isTaken else { throw .overloaded }
    defer { jobs.withLock { $0 -= 1 } }
    return await pool.run(job)
  }
}
