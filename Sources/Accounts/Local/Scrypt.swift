import COpenSSL

/// scrypt (RFC 7914) by OpenSSL. It blocks for a good part of a second and takes megabytes, so it
/// must run on a pool's thread, a few at a time.
enum Scrypt {
  /// OpenSSL's memory in addition to the large table.
  private static let extraBytes = 4 * 1024 * 1024

  /// Nil if there is not enough memory.
  static func derive(
    _ password: String, salt: [UInt8], cost: ScryptCost, byteCount: Int
  ) -> [UInt8]? {
    let rounds = UInt64(1) << UInt64(cost.exponent)
    let memory =
      128 * UInt64(cost.blockFactor) * (rounds + UInt64(cost.parallel)) + UInt64(extraBytes)
    var password = password
    var key = [UInt8](repeating: 0, count: byteCount)
    let isDerived = password.withUTF8 { text in
      text.withMemoryRebound(to: CChar.self) { text in
        // With a null pointer OpenSSL treats the password as absent.
        withUnsafePointer(to: CChar(0)) { empty in
          EVP_PBE_scrypt(
            text.baseAddress ?? empty, text.count, salt, salt.count, rounds,
            UInt64(cost.blockFactor), UInt64(cost.parallel), memory, &key, key.count)
        }
      }
    }
    return isDerived == 1 ? key : nil
  }
}

/// The cost of one password attempt (RFC 7914 section 2): time grows with all three parameters,
/// memory with the first two.
package struct ScryptCost: Hashable, Sendable {
  /// The exponents that settings allow.
  package static let exponents = 10...20
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
}
