package import Model
import Synchronization
package import Transport

/// Hashes and checks passwords on a pool's threads, as many at once as memory is meant for. The
/// places are shared between networks and accounts, see ``HashingQueue``.
package final class PasswordHasher: Sendable {
  /// What a check found.
  struct Verdict: Hashable, Sendable {
    let isRight: Bool
    /// The password is right, and its hash is cheaper to attack than new ones are.
    let isOutdated: Bool
  }

  /// ``ScryptCost/derive(_:salt:byteCount:)``, or what counts in its place.
  typealias Derivation =
    @Sendable (
      _ password: String, _ salt: [UInt8], _ cost: ScryptCost, _ byteCount: Int
    ) -> [UInt8]?

  private let cost: ScryptCost
  private let pool: BlockingPool
  private let random: RandomBytes
  private let derive: Derivation
  private let line: Mutex<Line>
  /// The largest exponent among hashes that may be checked.
  private let dearest: Mutex<Int>

  /// The queue, and who waits for its word: true starts, false has no place.
  private struct Line {
    var queue: HashingQueue
    var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
    var nextID = 0
  }

  /// - Parameter pool: of as many threads as may hash at once; each takes the cost's memory.
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
    line = Mutex(Line(queue: HashingQueue(runningMax: pool.threadsMax)))
    dearest = Mutex(cost.exponent)
  }

  /// Hashes of such costs are stored. Where settings went back to less, every check takes what the
  /// dearest of them does, until none is left at a start.
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

  /// Takes the same work whether there is a hash or none, and whatever it cost to make: doubling the
  /// exponent's power from its own to the dearest there is adds up to what that one takes.
  ///
  /// - Parameter hash: nil where there is no account; no password is right for it.
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

  private func run<Answer: Sendable>(
    for share: HashingShare, _ job: @escaping @Sendable () -> Answer
  ) async throws(AccountFault) -> Answer {
    let id = line.withLock { line in
      line.nextID += 1
      return line.nextID
    }
    guard await hasTurn(id, share) else { throw .overloaded }
    defer { finish(id) }
    return await pool.run(job)
  }

  /// Waits for the job's turn.
  ///
  /// - Returns: false where it has no place, or lost it to a job of another network.
  private func hasTurn(_ id: Int, _ share: HashingShare) async -> Bool {
    await withCheckedContinuation { continuation in
      let told: (CheckedContinuation<Bool, Never>, Bool)? = line.withLock { line in
        switch line.queue.submit(id, share) {
        case .starts: return (continuation, true)
        case .refused: return (continuation, false)
        case .waits:
          line.waiting[id] = continuation
          return nil
        case .displaces(let other):
          line.waiting[id] = continuation
          return line.waiting.removeValue(forKey: other).map { ($0, false) }
        }
      }
      told?.0.resume(returning: told?.1 ?? false)
    }
  }

  private func finish(_ id: Int) {
    let next = line.withLock { line in
      line.queue.finish(id).flatMap { line.waiting.removeValue(forKey: $0) }
    }
    next?.resume(returning: true)
  }
}
