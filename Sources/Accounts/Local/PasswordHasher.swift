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

  private let cost: ScryptCost
  private let pool: BlockingPool
  private let random: RandomBytes
  private let jobs = Mutex(0)

  /// - Parameter pool: of as many threads as may hash at once; each takes the cost's memory.
  package init(cost: ScryptCost, pool: BlockingPool, random: RandomBytes) {
    self.cost = cost
    self.pool = pool
    self.random = random
  }

  func hash(_ password: String) async throws(AccountFault) -> PasswordHash {
    let salt = random.bytes(PasswordHash.saltByteCount)
    let cost = cost
    let key = try await run {
      Scrypt.derive(password, salt: salt, cost: cost, byteCount: PasswordHash.keyByteCount)
    }
    guard let key else { throw .overloaded }
    return PasswordHash(cost: cost, salt: salt, key: key)
  }

  /// Takes the same time whether there is a hash or none, and whatever an older one cost: doubling
  /// the exponent's power from its own to today's adds up to what today's costs.
  /// One that cost more takes longer: settings that go back to less tell which accounts are older.
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
    let isRight = try await run {
      let derived = Scrypt.derive(
        password, salt: checked.salt, cost: checked.cost, byteCount: checked.key.count)
      var exponent = checked.cost.exponent
      while exponent < cost.exponent {
        _ = Scrypt.derive(
          password, salt: checked.salt, cost: cost.with(exponent: exponent), byteCount: 1)
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
