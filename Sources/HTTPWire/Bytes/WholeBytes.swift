/// Comparing and hashing of bytes as a whole, eight at a time.
package enum WholeBytes {
  @inline(__always)
  private static func word(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> UInt64 {
    bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
  }

  package static func areEqual(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
  ) -> Bool {
    guard left.count == right.count else { return false }
    var index = 0
    while index &+ 8 <= left.count {
      if word(left, index) != word(right, index) { return false }
      index &+= 8
    }
    while index < left.count {
      if left[index] != right[index] { return false }
      index &+= 1
    }
    return true
  }

  /// A hash for tables whose owners do not mind collisions that somebody provokes.
  package static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var (even, odd) = (UInt64(truncatingIfNeeded: bytes.count), UInt64.zero)
    var index = 0
    while index &+ 16 <= bytes.count {
      even = (even ^ word(bytes, index)) &* multiplier
      odd = (odd ^ word(bytes, index &+ 8)) &* multiplier
      even ^= even >> 32
      odd ^= odd >> 32
      index &+= 16
    }
    while index < bytes.count {
      even = (even ^ UInt64(bytes[index])) &* multiplier
      index &+= 1
    }
    let joined = (even ^ odd &* multiplier) &* multiplier
    return joined ^ joined >> 29
  }

  /// The odd constant of SplitMix64.
  private static var multiplier: UInt64 { 0x9E37_79B9_7F4A_7C15 }
}
