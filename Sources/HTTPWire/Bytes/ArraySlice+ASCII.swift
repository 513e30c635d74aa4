extension ArraySlice<UInt8> {
  /// Returns whether the slice equals `word`, ignoring the case of ASCII letters.
  ///
  /// - Parameter word: in lower case.
  package func equalsIgnoringCase(_ word: StaticString) -> Bool {
    guard count == word.utf8CodeUnitCount else { return false }
    let wanted = word.utf8Start
    for offset in 0..<count where self[startIndex + offset].lowercased != wanted[offset] {
      return false
    }
    return true
  }

  /// The slice without SP and HTAB at its ends.
  package var trimmingBlanks: ArraySlice<UInt8> {
    var slice = self
    while let first = slice.first, first.isBlank { slice.removeFirst() }
    while let last = slice.last, last.isBlank { slice.removeLast() }
    return slice
  }

  /// The slice decoded as UTF-8; invalid bytes become U+FFFD.
  package var text: String { String(decoding: self, as: UTF8.self) }
}

extension ArraySlice<UInt8> {
  /// Returns whether the slice equals `other`. Compares eight bytes at a time; the generic comparison
  /// of sequences goes byte by byte through two iterators.
  package func equals(_ other: [UInt8]) -> Bool {
    withUnsafeBytes { left in other.withUnsafeBytes { ByteComparison.areEqual(left, $0) } }
  }
}

/// Comparison of byte buffers, eight bytes at a time.
package enum ByteComparison {
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
