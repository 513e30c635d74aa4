/// A response's status line and fields, checked, kept as offsets into the bytes it owns.
package struct ResponseHead: Sendable {
  /// The field lines; ``FieldSection/bytes`` holds the whole head.
  package internal(set) var fields = FieldSection()
  /// 100–999. Treat a code above 599 like 500 (RFC 9110 15).
  package internal(set) var status = 0
  /// 0 for HTTP/1.0, otherwise 1.
  package internal(set) var minorVersion = 1
  /// Whether the server allows the connection to be reused.
  package internal(set) var keepsAlive = true
  var contentLength: Int?
  var isChunked = false
  var asksForUpgrade = false

  package init() {}

  /// The first value of a field.
  ///
  /// - Parameter name: in lower case.
  package subscript(name: StaticString) -> ArraySlice<UInt8>? { fields[name] }

  /// Returns how the body is delimited, which also depends on the request's method (RFC 9112 6.3).
  package func framing(answering method: RequestMethod) -> BodyFraming {
    if method == .head || status < 200 || status == 204 || status == 304 { return .none }
    if isChunked { return .chunked }
    if let contentLength { return contentLength == 0 ? .none : .length(contentLength) }
    return .untilClose
  }

  mutating func reset() {
    fields.removeAll()
    status = 0
    minorVersion = 1
    keepsAlive = true
    contentLength = nil
    isChunked = false
    asksForUpgrade = false
  }
}

/// Parser for the status line (RFC 9112 4): version, three digits, and a reason, which is ignored.
enum StatusLineSyntax {
  static func parse(
    _ bytes: UnsafeRawBufferPointer, _ line: Range<Int>, into head: inout ResponseHead
  ) throws(ResponseError) {
    let start = line.lowerBound
    // The SP after the code may be missing with the reason: many servers leave it out.
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

/// State collected from the fields that decide a response's framing and connection.
///
/// Equal Content-Lengths count as one, since old servers repeat the field. Anything ambiguous is an
/// error, since a gateway could pass on the wrong reading.
struct ResponseFields: Sendable {
  private var contentLength: Int?
  private var transferEncodings = 0
  private var options = ConnectionOptions()
  private var hasUpgrade = false

  mutating func take(
    _ bytes: UnsafeRawBufferPointer, _ line: FieldSection.Line
  ) throws(ResponseError) {
    let name = line.name.asInt
    let value = line.value.asInt
    switch name.count {
    case 7 where ByteScan.equals(bytes, name, "upgrade"):
      hasUpgrade = true
    case 10 where ByteScan.equals(bytes, name, "connection"):
      options.add(bytes, value)
    case 14 where ByteScan.equals(bytes, name, "content-length"):
      try takeContentLength(bytes, value)
    case 17 where ByteScan.equals(bytes, name, "transfer-encoding"):
      transferEncodings += 1
      guard transferEncodings == 1, ByteScan.equals(bytes, value, "chunked") else {
        throw .unknownTransferCoding
      }
    default:
      break
    }
  }

  func finish(_ head: inout ResponseHead) throws(ResponseError) {
    // A status without content has none, whatever its fields say (RFC 9112 6.3).
    let isBodiless = head.status < 200 || head.status == 204 || head.status == 304
    if contentLength != nil, transferEncodings > 0, !isBodiless { throw .conflictingFraming }
    head.contentLength = contentLength
    head.isChunked = transferEncodings > 0
    head.keepsAlive = options.persists(minorVersion: head.minorVersion)
    head.asksForUpgrade = hasUpgrade && options.upgrade
  }

  private mutating func takeContentLength(
    _ bytes: UnsafeRawBufferPointer, _ value: Range<Int>
  ) throws(ResponseError) {
    var elements: [Range<Int>] = []
    ListElements.forEach(bytes, value) { elements.append($0) }
    guard !elements.isEmpty else { throw .malformedContentLength }
    for element in elements {
      guard case .bytes(let length) = ContentLength.parse(bytes, element) else {
        throw .malformedContentLength
      }
      if let known = contentLength, known != length { throw .conflictingContentLengths }
      contentLength = length
    }
  }
}
