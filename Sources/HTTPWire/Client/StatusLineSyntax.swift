/// The grammar of the status line (RFC 9112 4): version, three digits, and a reason nobody reads.
enum StatusLineSyntax {
  static func parse(
    _ bytes: UnsafeRawBufferPointer, _ line: Range<Int>, into head: inout ResponseHead
  ) throws(ResponseError) {
    let start = line.lowerBound
    // The SP behind the code may be missing with the reason: many servers leave it out.
    guard line.count >= 12, line.count == 12 || bytes[start + 12] == ASCII.space,
      let version = VersionSyntax.parse(bytes, at: start), bytes[start + 8] == ASCII.space
    else { throw .malformedStatusLine }
    guard version.major == 1 else { throw .unsupportedVersion }
    var status = 0
    for index in start + 9..<start + 12 {
      guard bytes[index].isDigit else { throw .malformedStatusLine }
      status = status * 10 + Int(bytes[index] &- 0x30)
    }
    guard status >= 100, ByteScan.isFieldValue(bytes, in: start + 12..<line.upperBound) else {
      throw .malformedStatusLine
    }
    head.status = status
    head.minorVersion = min(Int(version.minor), 1)
  }
}
