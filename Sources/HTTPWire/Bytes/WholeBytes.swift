/// Comparing of bytes as a whole, eight at a time.
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
}
