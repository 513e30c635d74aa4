/// A cyclic redundancy check of content, as S3 clients use it: reflected bits, initial value and final
/// XOR of all ones.
///
/// Eight tables process eight bytes per step ("slicing by 8", Kounavis and Berry 2005). A 32-bit check
/// uses the low half of the register and works like a 64-bit one.
struct CyclicChecksum: Sendable {
  /// The tables of a polynomial, computed once.
  final class Tables: Sendable {
    static let crc32 = Tables(polynomial: 0xEDB8_8320, byteCount: 4)
    static let crc32c = Tables(polynomial: 0x82F6_3B78, byteCount: 4)
    static let crc64nvme = Tables(polynomial: 0x9A6C_9329_AC4B_C9B5, byteCount: 8)

    fileprivate let entries: [UInt64]
    let polynomial: UInt64
    let byteCount: Int

    private init(polynomial: UInt64, byteCount: Int) {
      self.polynomial = polynomial
      self.byteCount = byteCount
      var entries = [UInt64](repeating: 0, count: 8 * 256)
      for byte in 0..<256 {
        var value = UInt64(byte)
        for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ polynomial : value >> 1 }
        entries[byte] = value
      }
      for table in 1..<8 {
        for byte in 0..<256 {
          let before = entries[(table - 1) * 256 + byte]
          entries[table * 256 + byte] = before >> 8 ^ entries[Int(before & 0xFF)]
        }
      }
      self.entries = entries
    }
  }

  private let tables: Tables
  private var register: UInt64

  init(_ tables: Tables) {
    self.tables = tables
    register = tables.byteCount == 8 ? .max : UInt64(UInt32.max)
  }

  mutating func update(_ bytes: [UInt8]) {
    register = tables.entries.withUnsafeBufferPointer { entries in
      bytes.withUnsafeBytes { Self.run($0, from: register, entries) }
    }
  }

  /// Most significant byte first.
  var bytes: [UInt8] {
    let value = ~register
    return (0..<tables.byteCount).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }

  private static func run(
    _ bytes: UnsafeRawBufferPointer, from start: UInt64, _ entries: UnsafeBufferPointer<UInt64>
  ) -> UInt64 {
    var register = start
    var offset = 0
    while offset + 8 <= bytes.count {
      let word = UInt64(
        littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      let mixed = register ^ word
      var next: UInt64 = 0
      for place in 0..<8 {
        next ^= entries[(7 - place) * 256 + Int(mixed >> (UInt64(place) * 8) & 0xFF)]
      }
      register = next
      offset += 8
    }
    while offset < bytes.count {
      register = register >> 8 ^ entries[Int((register ^ UInt64(bytes[offset])) & 0xFF)]
      offset += 1
    }
    return register
  }
}
