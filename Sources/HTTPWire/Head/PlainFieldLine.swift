/// The form that nearly all field lines have, found and checked in one pass of eight bytes at a time: a name
/// of letters and hyphens, a colon, spaces, a value without tabs, spaces, CRLF.
///
/// Everything else, faults included, is left to ``LineScanner`` and ``FieldLine``, which read a plain line
/// in the same way.
struct PlainFieldLine {
  let field: FieldSection.Line
  /// Where the line's CRLF starts.
  let end: Int

  /// Reads the line at an offset; nil unless it is plain, complete, and has at most `bytesMax` bytes.
  @inline(__always)
  init?(_ bytes: UnsafeRawBufferPointer, at start: Int, bytesMax: Int) {
    guard let colon = Self.endOfName(bytes, from: start), colon > start else { return nil }
    var lower = colon &+ 1
    while lower < bytes.count, bytes[lower] == ASCII.space { lower &+= 1 }
    let end = ByteScan.endOfVisible(bytes, from: lower)
    guard end &+ 1 < bytes.count, bytes[end] == ASCII.carriageReturn,
      bytes[end &+ 1] == ASCII.lineFeed, end &- start <= bytesMax
    else { return nil }
    var upper = end
    while upper > lower, bytes[upper &- 1] == ASCII.space { upper &-= 1 }
    field = FieldSection.Line(
      name: (start..<colon).asHeadOffsets, value: (lower..<upper).asHeadOffsets)
    self.end = end
  }

  /// The colon after letters and hyphens.
  @inline(__always)
  private static func endOfName(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    var index = start
    while index &+ 8 <= bytes.count {
      let word = ByteWord(bytes, at: index)
      let others = ~(word.letters | word.equal(to: UInt8(ascii: "-"))) & ByteWord.highBits
      if others != 0 {
        let found = index &+ others.trailingZeroBitCount / 8
        return bytes[found] == ASCII.colon ? found : nil
      }
      index &+= 8
    }
    return nil
  }
}
