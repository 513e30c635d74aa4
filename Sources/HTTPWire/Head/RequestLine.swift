/// Parser for the request line (RFC 9112 3): method, target and version, separated by one SP.
enum RequestLine {
  static func parse(
    _ bytes: UnsafeRawBufferPointer, _ line: Range<Int>, into head: inout RequestHead,
    limits: HeadLimits
  ) throws(RequestError) {
    let methodEnd = tokenEnd(bytes, line)
    guard methodEnd > line.lowerBound, methodEnd < line.upperBound,
      bytes[methodEnd] == ASCII.space
    else { throw .malformedRequestLine }
    let targetStart = methodEnd + 1
    guard line.count >= targetStart - line.lowerBound + versionCount + 2 else {
      throw .malformedRequestLine
    }
    let targetEnd = line.upperBound - versionCount - 1
    guard bytes[targetEnd] == ASCII.space else { throw .malformedRequestLine }
    head.minorVersion = try minorVersion(bytes, at: targetEnd + 1)
    guard methodEnd - line.lowerBound <= limits.methodBytesMax,
      let method = RequestMethod(bytes, line.lowerBound..<methodEnd)
    else {
      // The target is kept: the refusal can depend on the path.
      head.parts =
        RequestTarget.parse(bytes, targetStart..<targetEnd, method: .get) ?? head.parts
      throw .unknownMethod
    }
    head.method = method
    guard let parts = RequestTarget.parse(bytes, targetStart..<targetEnd, method: method) else {
      throw .malformedTarget
    }
    head.parts = parts
  }

  /// `HTTP/1.1`: the version is always this long.
  private static let versionCount = 8

  private static func tokenEnd(_ bytes: UnsafeRawBufferPointer, _ line: Range<Int>) -> Int {
    var index = line.lowerBound
    while index < line.upperBound, ASCIISet.token.contains(bytes[index]) { index &+= 1 }
    return index
  }

  /// The minor version, 1.2 to 1.9 read as 1.1 (RFC 9110 2.5).
  private static func minorVersion(
    _ bytes: UnsafeRawBufferPointer, at start: Int
  ) throws(RequestError) -> Int {
    guard let version = VersionSyntax.parse(bytes, at: start) else { throw .malformedRequestLine }
    guard version.major == 1 else { throw .unsupportedVersion }
    return min(Int(version.minor), 1)
  }
}

/// `HTTP/` digit `.` digit, in upper case (RFC 9112 2.3).
enum VersionSyntax {
  /// Parses the version at an offset. At least eight bytes must follow the offset.
  @inline(__always)
  static func parse(
    _ bytes: UnsafeRawBufferPointer, at start: Int
  ) -> (major: UInt8, minor: UInt8)? {
    guard bytes[start] == UInt8(ascii: "H"), bytes[start + 1] == UInt8(ascii: "T"),
      bytes[start + 2] == UInt8(ascii: "T"), bytes[start + 3] == UInt8(ascii: "P"),
      bytes[start + 4] == ASCII.slash, bytes[start + 5].isDigit,
      bytes[start + 6] == UInt8(ascii: "."), bytes[start + 7].isDigit
    else { return nil }
    return (bytes[start + 5] &- 0x30, bytes[start + 7] &- 0x30)
  }
}
