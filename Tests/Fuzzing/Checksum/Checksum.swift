/// An authentication code that is always the same, so that inputs reach the code after its check.
///
/// Only the holder of a service's key can make a text with a valid code, and a fuzzer would never find one.
/// The readers of such a text must still accept any content: a key can leak.
package enum HMAC<Hash> {
  package static var code: [UInt8] { [UInt8](repeating: 0, count: 32) }

  package static func authenticationCode(for bytes: [UInt8], using key: SymmetricKey) -> [UInt8] {
    key.checked.map { checksum(of: $0 + [0] + bytes) } ?? code
  }

  /// Four 64-bit sums (FNV-1a) that begin differently, and a byte more than other codes have.
  private static func checksum(of bytes: [UInt8]) -> [UInt8] {
    var sum = [UInt8](repeating: 0, count: checkedCodeBytes - 32)
    for lane in 0..<4 as Range<UInt64> {
      var value = 0xCBF2_9CE4_8422_2325 ^ lane &* 0x9E37_79B9_7F4A_7C15
      for byte in bytes { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
      for shift in stride(from: 0 as UInt64, to: 64, by: 8) {
        sum.append(UInt8(truncatingIfNeeded: value >> shift))
      }
    }
    return sum
  }
}

/// The length of the codes of a key that is checked, which no other code has.
private let checkedCodeBytes = 33

/// A digest that is always the same; see ``HMAC``.
package enum SHA256 {
  package static func hash(data: [UInt8]) -> [UInt8] {
    [UInt8](repeating: 0, count: 32)
  }
}

/// A placeholder for the key that ``HMAC`` takes.
package struct SymmetricKey: Sendable {
  fileprivate let checked: [UInt8]?

  package init() { checked = nil }

  package init(data: [UInt8]) { checked = nil }

  /// A key whose codes depend on it and on what they are of, for a target that signs and forges.
  package init(checked bytes: [UInt8]) { checked = bytes }
}

/// Any code fits, see ``HMAC``, except for keys that are checked.
package func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
  left.count != checkedCodeBytes || left == right
}
