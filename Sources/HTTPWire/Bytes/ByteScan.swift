/// Eight bytes that are compared at once. A result has the high bit of each byte that matches, and no
/// other; the first byte is the least significant one.
struct ByteWord {
  static var ones: UInt64 { 0x0101_0101_0101_0101 }
  static var highBits: UInt64 { 0x8080_8080_8080_8080 }

  private let bytes: UInt64

  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer, at index: Int) {
    self.bytes = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
  }

  @inline(__always)
  func equal(to byte: UInt8) -> UInt64 {
    let difference = bytes ^ (Self.ones &* UInt64(byte))
    return ~((difference & ~Self.highBits &+ ~Self.highBits) | difference) & Self.highBits
  }

  /// The bytes from `first` to `last`, which must be ASCII.
  @inline(__always)
  func within(_ first: UInt8, _ last: UInt8) -> UInt64 {
    Self.within(bytes & ~Self.highBits, first, last) & ~bytes
  }

  /// The ASCII letters.
  @inline(__always)
  var letters: UInt64 {
    let lower = (bytes | Self.ones &* 0x20) & ~Self.highBits
    return Self.within(lower, UInt8(ascii: "a"), UInt8(ascii: "z")) & ~bytes
  }

  @inline(__always)
  private static func within(_ ascii: UInt64, _ first: UInt8, _ last: UInt8) -> UInt64 {
    let atLeast = ascii &+ ones &* UInt64(0x80 &- first)
    let above = ascii &+ ones &* UInt64(0x7F &- last)
    return atLeast & ~above & highBits
  }
}

/// Scans over borrowed bytes, eight at a time where that is faster.
enum ByteScan {
  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let highBits: UInt64 = 0x8080_8080_8080_8080

  @inline(__always)
  private static func word(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
  }

  /// The index of the first control byte (below 0x20, or 0x7F) at or after `start`; the count of the bytes
  /// if there is none.
  @inline(__always)
  static func endOfVisible(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    var index = start
    while index &+ 8 <= bytes.count {
      let value = word(bytes, index)
      let toDelete = value ^ (ones &* 0x7F)
      // Bytes after the first that is found can be marked wrongly: only that one counts.
      let found =
        ((value &- ones &* 0x20) & ~value | (toDelete &- ones) & ~toDelete) & highBits
      if found != 0 { return index &+ found.trailingZeroBitCount / 8 }
      index &+= 8
    }
    while index < bytes.count, bytes[index] >= 0x20, bytes[index] != 0x7F { index &+= 1 }
    return index
  }

  /// The index of the first byte of a range that is not a letter, a digit, `-`, `.` or `/`, as far as that
  /// can be told eight bytes at a time; all before it are.
  @inline(__always)
  static func endOfPlainPath(_ bytes: UnsafeRawBufferPointer, in range: Range<Int>) -> Int {
    var index = range.lowerBound
    while index &+ 8 <= range.upperBound {
      let word = ByteWord(bytes, at: index)
      let others = ~(word.letters | word.within(UInt8(ascii: "-"), UInt8(ascii: "9"))) & highBits
      if others != 0 { return index &+ others.trailingZeroBitCount / 8 }
      index &+= 8
    }
    return index
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

  /// Returns whether every byte of a range is in ``ASCIISet/query``.
  static func isQuery(_ bytes: UnsafeRawBufferPointer, in range: Range<Int>) -> Bool {
    var index = range.lowerBound
    while index &+ 8 <= range.upperBound {
      let word = ByteWord(bytes, at: index)
      let allowed = word.within(0x21, 0x7E) & ~word.equal(to: UInt8(ascii: "#"))
      if allowed != highBits { return false }
      index &+= 8
    }
    while index < range.upperBound {
      guard ASCIISet.query.contains(bytes[index]) else { return false }
      index &+= 1
    }
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
