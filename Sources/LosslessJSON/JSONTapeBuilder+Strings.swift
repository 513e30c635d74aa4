extension JSONTapeBuilder {
  private static let everyByte: UInt64 = 0x0101_0101_0101_0101
  private static let highBits: UInt64 = 0x8080_8080_8080_8080

  /// Reads a string or a member name; `position` is that of the opening quote.
  mutating func readString() throws(JSONParseError) {
    let from = position
    var index = position + 1
    var high: UInt64 = 0
    var flags: UInt8 = 0
    while true {
      index = skipPlain(from: index, high: &high)
      guard index < end else { throw failure(.unexpectedEnd, at: index) }
      let byte = base[index]
      if byte == UInt8(ascii: "\"") { break }
      guard byte == UInt8(ascii: "\\") else { throw failure(.controlCharacter(byte), at: index) }
      flags = JSONTapeNode.escaped
      index = try skipEscape(at: index)
    }
    if high & Self.highBits != 0 { try checkUTF8(from: from + 1, to: index) }
    position = index + 1
    appendLeaf(.string, from: from, flags: flags)
  }

  /// Returns the offset of the first quote, backslash or control character at or after `from`, or `end`.
  ///
  /// Each mask sets the top bit of a byte that matches. Borrows cause false marks only above a true one,
  /// so the lowest mark is always exact.
  /// - Parameter high: collects the bits of all skipped bytes.
  @inline(__always)
  private func skipPlain(from: Int, high: inout UInt64) -> Int {
    var index = from
    while index + 8 <= end {
      let word = UInt64(
        littleEndian: UnsafeRawPointer(base + index).loadUnaligned(as: UInt64.self))
      let quotes = word ^ (Self.everyByte &* 0x22)
      let slashes = word ^ (Self.everyByte &* 0x5C)
      let marks =
        (((quotes &- Self.everyByte) & ~quotes) | ((slashes &- Self.everyByte) & ~slashes)
          | ((word &- (Self.everyByte &* 0x20)) & ~word)) & Self.highBits
      if marks != 0 {
        let bits = UInt64(marks.trailingZeroBitCount & ~7)
        high |= word & ((1 &<< bits) &- 1)
        return index + Int(bits >> 3)
      }
      high |= word
      index += 8
    }
    while index < end {
      let byte = base[index]
      if byte < 0x20 || byte == 0x22 || byte == 0x5C { break }
      high |= UInt64(byte)
      index += 1
    }
    return index
  }

  /// - Returns: the offset after the escape that begins at `index`.
  private func skipEscape(at index: Int) throws(JSONParseError) -> Int {
    guard index + 1 < end else { throw failure(.unexpectedEnd, at: end) }
    switch base[index + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return index + 2
    case UInt8(ascii: "u"):
      for digit in (index + 2)..<(index + 6) {
        guard digit < end else { throw failure(.unexpectedEnd, at: end) }
        guard JSONEscapes.hexDigit(base[digit]) != nil else {
          throw failure(.malformedEscape, at: digit)
        }
      }
      return index + 6
    default:
      throw failure(.malformedEscape, at: index + 1)
    }
  }

  @inline(never)
  private func checkUTF8(from: Int, to: Int) throws(JSONParseError) {
    let span = UnsafeBufferPointer(start: base + from, count: to - from).span
    do throws(UTF8.ValidationError) {
      _ = try UTF8Span(validating: span)
    } catch {
      throw failure(.malformedUTF8, at: from + error.byteOffsets.lowerBound)
    }
  }

  /// Returns an error for an offset into the buffer, relative to the beginning of the text.
  func failure(_ reason: JSONParseError.Reason, at index: Int) -> JSONParseError {
    var line = 1
    var lineStart = start
    for earlier in start..<max(start, min(index, end)) where base[earlier] == 0x0A {
      line += 1
      lineStart = earlier + 1
    }
    return JSONParseError(
      reason: reason, offset: index - start, line: line, column: index - lineStart + 1)
  }
}
