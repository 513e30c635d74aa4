import Model

/// The combination of the cyclic redundancy checks of two byte ranges to that of their concatenation.
///
/// A check is linear: that of the first range is advanced by as many zero bytes as the second has, and
/// the second check is added. Advancing is a matrix over GF(2), whose powers of two are computed once
/// (Adler's `crc32_combine`).
struct ChecksumCombination: Sendable {
  /// The matrices that advance a register by 2^n zero bytes, for n from 0, by columns.
  private let powers: [[UInt64]]
  private let byteCount: Int

  /// - Returns: nil unless the algorithm is a cyclic redundancy check.
  init?(_ algorithm: ContentDigest.Algorithm) {
    let tables: CyclicChecksum.Tables
    switch algorithm {
    case .crc32: tables = .crc32
    case .crc32c: tables = .crc32c
    case .crc64nvme: tables = .crc64nvme
    case .md5, .sha1, .sha256: return nil
    }
    byteCount = tables.byteCount
    var columns: [UInt64] = [tables.polynomial]
    for bit in 1..<(8 * byteCount) { columns.append(1 << UInt64(bit - 1)) }
    // Advances by one zero bit; squared three times, by one byte.
    for _ in 0..<3 { columns = Self.product(columns, columns) }
    var powers = [columns]
    for _ in 1..<Int.bitWidth - 1 {
      columns = Self.product(columns, columns)
      powers.append(columns)
    }
    self.powers = powers
  }

  /// - Parameters:
  ///   - first: most significant byte first.
  ///   - byteCount: of the second range.
  func join(_ first: [UInt8], _ second: [UInt8], byteCount: Int) -> [UInt8] {
    var register = Self.number(first)
    for (bit, power) in powers.enumerated() where byteCount >> bit & 1 == 1 {
      register = Self.apply(power, to: register)
    }
    let value = register ^ Self.number(second)
    return (0..<self.byteCount).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }

  private static func number(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func apply(_ columns: [UInt64], to register: UInt64) -> UInt64 {
    var (rest, sum) = (register, UInt64(0))
    while rest != 0 {
      sum ^= columns[rest.trailingZeroBitCount]
      rest &= rest - 1
    }
    return sum
  }

  private static func product(_ left: [UInt64], _ right: [UInt64]) -> [UInt64] {
    right.map { apply(left, to: $0) }
  }
}
