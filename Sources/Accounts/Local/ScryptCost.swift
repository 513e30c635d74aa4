import Cryptography

/// The cost of one password attempt (RFC 7914 section 2): time grows with all three parameters,
/// memory with the first two.
package struct ScryptCost: Hashable, Sendable {
  /// The exponents that settings allow.
  static let exponents = 10...20
  /// The maximum in a stored hash; larger ones would exhaust memory.
  private static let factorsMax = 64

  /// N is 2 to the power of this.
  package let exponent: Int
  let blockFactor: Int
  let parallel: Int

  /// With exponent 15: 32 MiB and about 0.3 s, as strong as OWASP recommends.
  package init(exponent: Int) {
    self.exponent = exponent
    blockFactor = 8
    parallel = 3
  }

  /// Nil for values that none of our hashes has.
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

  /// Derives a key by ``Scrypt``; nil if there is not enough memory.
  func derive(_ password: String, salt: [UInt8], byteCount: Int) -> [UInt8]? {
    Scrypt.derive(
      password, salt: salt, exponent: exponent, blockFactor: blockFactor, parallel: parallel,
      byteCount: byteCount)
  }
}
