import Cryptography

/// How dear it is to try one password (RFC 7914 section 2): time grows with all three, memory with
/// the first two.
package struct ScryptCost: Hashable, Sendable {
  /// What settings may ask for.
  package static let exponents = 10...20
  /// Accepted from a stored hash; larger ones would take the memory of the machine.
  private static let factorsMax = 64

  /// N is 2 to the power of this.
  package let exponent: Int
  let blockFactor: Int
  let parallel: Int

  /// With 15 this takes 32 MiB and about 0.3 s, as strong as OWASP's password advice asks.
  package init(exponent: Int) {
    self.exponent = exponent
    blockFactor = 8
    parallel = 3
  }

  /// Nil for what no hash of ours has.
  init?(exponent: Int, blockFactor: Int, parallel: Int) {
    guard 1...Self.exponents.upperBound ~= exponent, 1...Self.factorsMax ~= blockFactor,
      1...Self.factorsMax ~= parallel
    else { return nil }
    self.exponent = exponent
    self.blockFactor = blockFactor
    self.parallel = parallel
  }

  func with(exponent: Int) -> ScryptCost {
    ScryptCost(exponent: exponent, blockFactor: blockFactor, parallel: parallel) ?? self
  }

  /// Whether a hash of this cost is cheaper to attack than one of the other.
  func isWeaker(than other: ScryptCost) -> Bool {
    exponent < other.exponent || blockFactor < other.blockFactor || parallel < other.parallel
  }

  /// Derives a key by ``Scrypt``; nil where there is no memory for it.
  func derive(_ password: String, salt: [UInt8], byteCount: Int) -> [UInt8]? {
    Scrypt.derive(
      password, salt: salt, exponent: exponent, blockFactor: blockFactor, parallel: parallel,
      byteCount: byteCount)
  }
}
