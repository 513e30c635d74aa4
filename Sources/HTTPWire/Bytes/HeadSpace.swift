/// Space at the end of a byte array for the pieces of a head.
///
/// Each `append` of an array checks that the array is not shared and has room; a head of a dozen short
/// pieces checks both once, and then only its own bound.
@usableFromInline
package struct HeadSpace: ~Copyable {
  @usableFromInline let start: UnsafeMutableRawPointer
  /// The bytes that can be written.
  @usableFromInline let room: Int
  /// The bytes written.
  @usableFromInline var count = 0

  @inlinable
  package init(start: UnsafeMutableRawPointer, room: Int) {
    self.start = start
    self.room = room
  }

  /// Appends text known at compile time.
  @inlinable
  package mutating func append(_ text: StaticString) {
    append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  @inlinable
  package mutating func append(bytes: borrowing [UInt8]) {
    bytes.withUnsafeBytes { append($0) }
  }

  @inlinable
  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count <= room &- count)
    guard let from = bytes.baseAddress else { return }
    (start + count).copyMemory(from: from, byteCount: bytes.count)
    count &+= bytes.count
  }

  /// Appends a number that is not negative in decimal digits.
  package mutating func append(decimal number: Int) {
    withUnsafeTemporaryAllocation(byteCount: [UInt8].digitsMax, alignment: 1) { digits in
      var rest = number.magnitude
      var first = digits.count
      repeat {
        first &-= 1
        digits[first] = UInt8(truncatingIfNeeded: rest % 10) &+ 0x30
        rest /= 10
      } while rest > 0
      append(UnsafeRawBufferPointer(rebasing: digits[first...]))
    }
  }
}

extension [UInt8] {
  /// The decimal digits of the largest 64-bit magnitude.
  package static var digitsMax: Int { 20 }

  /// Appends what `write` appends to the space, at most `bytesMax` bytes.
  @inlinable
  package mutating func append(bytesMax: Int, _ write: (inout HeadSpace) -> Void) {
    append(addingCapacity: bytesMax) { (span: inout OutputSpan<UInt8>) in
      span.withUnsafeMutableBufferPointer { buffer, initialized in
        guard let start = buffer.baseAddress else { return }
        var space = HeadSpace(
          start: UnsafeMutableRawPointer(start + initialized), room: buffer.count - initialized)
        write(&space)
        initialized += space.count
      }
    }
  }
}
