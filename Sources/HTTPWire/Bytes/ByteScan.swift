/// Scans over borrowed bytes, eight at a time where that is faster.
enum ByteScan {
  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let highBits: UInt64 = 0x8080_8080_8080_8080

  @inline(__always)
  private static func word(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
  }

  /// The index of the first line feed at or after `start`.
  static func lineFeed(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    var index = start
    while index &+ 8 <= bytes.count {
      let difference = word(bytes, index) ^ (ones &* UInt64(ASCII.lineFeed))
      let zero = (difference &- ones) & ~difference & highBits
      if zero != 0 { return index &+ zero.trailingZeroBitCount / 8 }
      index &+= 8
    }
    while index < bytes.count {
      if bytes[index] == ASCII.lineFeed { return index }
      index &+= 1
    }
    return nil
  }

  /// Returns whether a range holds only bytes allowed in a field value: visible ASCII, bytes above it,
  /// SP and HTAB (RFC 9110 5.5).
  static func isFieldValue(_ bytes: UnsafeRawBufferPointer, in range: Range<Int>) -> Bool {
    var index = range.lowerBound
    while index &+ 8 <= range.upperBound {
      let value = word(bytes, index)
      let controls = (value &- ones &* 0x20) & ~value & highBits
      let toDelete = value ^ (ones &* 0x7F)
      let deletes = (toDelete &- ones) & ~toDelete & highBits
      if controls | deletes != 0, !isFieldValueBytewise(bytes, in: index..<index &+ 8) {
        return false
      }
      index &+= 8
    }
    return isFieldValueBytewise(bytes, in: index..<range.upperBound)
  }

  private static func isFieldValueBytewise(
    _ bytes: UnsafeRawBufferPointer, in range: Range<Int>
  ) -> Bool {
    for index in range {
      let byte = bytes[index]
      if byte < 0x20 ? byte != ASCII.tab : byte == 0x7F { return false }
    }
    return true
  }

  /// Returns whether every byte of a range is in a set.
  static func all(
    in range: Range<Int>, of bytes: UnsafeRawBufferPointer, are set: ASCIISet
  ) -> Bool {
    for index in range where !set.contains(bytes[index]) { return false }
    return true
  }

  /// A range without the blanks at its ends.
  static func trimmed(_ range: Range<Int>, in bytes: UnsafeRawBufferPointer) -> Range<Int> {
    var lower = range.lowerBound
    var upper = range.upperBound
    while lower < upper, bytes[lower].isBlank { lower &+= 1 }
    while upper > lower, bytes[upper &- 1].isBlank { upper &-= 1 }
    return lower..<upper
  }

  /// Returns whether a range equals a name, ignoring the case of ASCII letters.
  ///
  /// `name` is in lower case and made of letters, digits and `-`.
  @inline(__always)
  static func equals(
    _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ name: StaticString
  ) -> Bool {
    equals(
      bytes, range, UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
  }

  /// Returns whether a range equals a name that is known only at run time.
  @inline(__always)
  static func equals(
    _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ wanted: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    guard range.count == wanted.count else { return false }
    for offset in 0..<range.count
    where bytes[range.lowerBound &+ offset].lowercased != wanted[offset] {
      return false
    }
    return true
  }
}
