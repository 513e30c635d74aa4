/// The grammar of the request line (RFC 9112 3): method, target and version, one SP between them.
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
      // What was asked for is known all the same to whoever words the refusal.
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
