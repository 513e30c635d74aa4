import Model
import Synchronization

@testable import Accounts

/// Hashes as the service does, and counts what that took.
final class HashingWork: Sendable {
  private let costs = Mutex<[ScryptCost]>([])

  var derive: PasswordHasher.Derivation {
    { password, salt, cost, byteCount in
      self.costs.withLock { $0.append(cost) }
      return cost.derive(password, salt: salt, byteCount: byteCount)
    }
  }

  /// What was taken since it was last asked: passes over a block of the large table, which time is
  /// proportional to (RFC 7914 section 2).
  func taken() -> Int {
    costs.withLock { costs in
      defer { costs = [] }
      return costs.map { (1 << $0.exponent) * $0.blockFactor * $0.parallel }.reduce(0, +)
    }
  }
}
