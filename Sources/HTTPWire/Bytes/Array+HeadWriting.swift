/// Writing of message heads into a reused byte array.
extension [UInt8] {
  /// Appends text known at compile time.
  @inline(__always)
  package mutating func append(_ text: StaticString) {
    append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends bytes like `append(contentsOf:)`, without its retain and release.
  @inline(__always)
  package mutating func append(bytes: borrowing [UInt8]) {
    bytes.withUnsafeBufferPointer { append(contentsOf: $0) }
  }

  /// Appends a number in decimal digits.
  package mutating func append(decimal number: Int) {
    if number < 0 {
      append(UInt8(ascii: "-"))
    }
    var rest = number.magnitude
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.digitsMax) { digits in
      var start = Self.digitsMax
      repeat {
        start &-= 1
        digits[start] = UInt8(truncatingIfNeeded: rest % 10) &+ 0x30
        rest /= 10
      } while rest > 0
      append(contentsOf: UnsafeMutableBufferPointer(rebasing: digits[start...]))
    }
  }

  /// Appends a field line.
  ///
  /// CR, LF and NUL in the value become spaces, so that no value can start another field
  /// (RFC 9110 5.5).
  package mutating func appendField(_ name: StaticString, _ value: String.UTF8View) {
    append(name)
    appendColon()
    let start = count
    append(contentsOf: value)
    endValue(from: start)
  }

  /// Appends a field line. The name is a token.
  package mutating func appendField(_ name: String, _ value: String.UTF8View) {
    append(contentsOf: name.utf8)
    appendColon()
    let start = count
    append(contentsOf: value)
    endValue(from: start)
  }

  /// Appends a field line whose value is known at compile time.
  package mutating func appendField(_ name: StaticString, _ value: StaticString) {
    append(name)
    appendColon()
    append(value)
    appendLineEnd()
  }

  /// Appends a field line with a decimal number.
  package mutating func appendField(_ name: StaticString, decimal value: Int) {
    append(name)
    appendColon()
    append(decimal: value)
    appendLineEnd()
  }

  /// Appends CRLF: the end of a line, or of the head.
  @inline(__always)
  package mutating func appendLineEnd() {
    append(ASCII.carriageReturn)
    append(ASCII.lineFeed)
  }

  private mutating func appendColon() {
    append(ASCII.colon)
    append(ASCII.space)
  }

  private mutating func endValue(from start: Int) {
    for index in start..<count where self[index] < ASCII.space {
      let byte = self[index]
      let isBreak = byte == ASCII.carriageReturn || byte == ASCII.lineFeed || byte == 0
      if isBreak { self[index] = ASCII.space }
    }
    appendLineEnd()
  }
}
