/// The grammar of one field line (RFC 9112 5): token, colon, blanks, value, blanks.
enum FieldLine {
  enum Fault: Error {
    /// The line starts with a blank: obsolete folding, or a name that is none.
    case folded
    case malformed
  }

  /// Splits a line, given without its CRLF.
  @inline(__always)
  static func parse(
    _ bytes: UnsafeRawBufferPointer, _ line: Range<Int>
  ) throws(Fault) -> FieldSection.Line {
    var colon = line.lowerBound
    while colon < line.upperBound, ASCIISet.token.contains(bytes[colon]) { colon &+= 1 }
    guard colon > line.lowerBound, colon < line.upperBound, bytes[colon] == ASCII.colon else {
      throw !line.isEmpty && bytes[line.lowerBound].isBlank ? .folded : .malformed
    }
    let value = ByteScan.trimmed(colon &+ 1..<line.upperBound, in: bytes)
    guard ByteScan.isFieldValue(bytes, in: value) else { throw .malformed }
    return FieldSection.Line(
      name: (line.lowerBound..<colon).asHeadOffsets, value: value.asHeadOffsets)
  }
}
