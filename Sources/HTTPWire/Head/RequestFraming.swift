/// What the fields that rule framing, connection and caller have said so far.
///
/// Everything ambiguous is refused: two parties that read one head differently is what request
/// smuggling is made of.
struct RequestFraming: Sendable {
  private var hosts = 0
  private var hasAuthorization = false
  private var contentLength: Int?
  private var transferEncodings = 0
  private var options = ConnectionOptions()
  private var hasUpgrade = false
  private var expectsContinue = false
  private var hasUnknownExpectation = false

  /// Takes a field, if it is one of those.
  @inline(__always)
  mutating func take(
    _ bytes: UnsafeRawBufferPointer, _ line: FieldSection.Line, into head: inout RequestHead
  ) throws(RequestError) {
    let name = line.name.asInt
    let value = line.value.asInt
    switch name.count {
    case 4 where ByteScan.equals(bytes, name, "host"):
      try takeHost(bytes, value, into: &head)
    case 6 where ByteScan.equals(bytes, name, "expect"):
      takeExpectation(bytes, value)
    case 7 where ByteScan.equals(bytes, name, "upgrade"):
      hasUpgrade = true
    case 10 where ByteScan.equals(bytes, name, "connection"):
      options.add(bytes, value)
    case 13 where ByteScan.equals(bytes, name, "authorization"):
      try takeAuthorization(value)
    case 14 where ByteScan.equals(bytes, name, "content-length"):
      try takeContentLength(bytes, value)
    case 17 where ByteScan.equals(bytes, name, "transfer-encoding"):
      try takeTransferEncoding(bytes, value)
    default:
      break
    }
  }

  /// Draws the conclusions, once all fields are there.
  func finish(_ head: inout RequestHead) throws(RequestError) {
    if hosts == 0, head.minorVersion >= 1 { throw .missingHost }
    if transferEncodings > 0 {
      if head.minorVersion < 1 { throw .transferCodingInHTTP10 }
      if contentLength != nil { throw .conflictingFraming }
      head.framing = .chunked
    } else if let contentLength {
      head.framing = .length(contentLength)
    }
    head.keepsAlive = options.persists(minorVersion: head.minorVersion)
    // An expectation in a 1.0 request, or without content, means nothing (RFC 9110 10.1.1).
    if head.minorVersion >= 1 {
      if hasUnknownExpectation { throw .unknownExpectation }
      head.expectsContinue = expectsContinue && head.hasBody
      // Its answer comes in place of `100 Continue`, after which some clients (botocore) misread the
      // next one on the same connection.
      if expectsContinue, !head.hasBody { head.keepsAlive = false }
      head.asksForUpgrade = hasUpgrade && options.upgrade
    }
  }

  private mutating func takeHost(
    _ bytes: UnsafeRawBufferPointer, _ value: Range<Int>, into head: inout RequestHead
  ) throws(RequestError) {
    hosts += 1
    if hosts > 1 { throw .repeatedHost }
    guard HostSyntax.isValid(bytes, value) else { throw .malformedHost }
    head.host = value
  }

  /// One set of credentials (RFC 9110 11.6.2): what reads the first of two, or takes an empty one
  /// for none, would mistake one caller for another.
  private mutating func takeAuthorization(_ value: Range<Int>) throws(RequestError) {
    if hasAuthorization { throw .repeatedAuthorization }
    if value.isEmpty { throw .emptyAuthorization }
    hasAuthorization = true
  }

  private mutating func takeContentLength(
    _ bytes: UnsafeRawBufferPointer, _ value: Range<Int>
  ) throws(RequestError) {
    if contentLength != nil { throw .repeatedContentLength }
    switch ContentLength.parse(bytes, value) {
    case .bytes(let length): contentLength = length
    case .beyondMeasure: throw .contentTooLarge
    case .malformed: throw .malformedContentLength
    }
  }

  private mutating func takeTransferEncoding(
    _ bytes: UnsafeRawBufferPointer, _ value: Range<Int>
  ) throws(RequestError) {
    transferEncodings += 1
    if transferEncodings > 1 { throw .repeatedTransferEncoding }
    guard ByteScan.equals(bytes, value, "chunked") else { throw .unknownTransferCoding }
  }

  private mutating func takeExpectation(_ bytes: UnsafeRawBufferPointer, _ value: Range<Int>) {
    ListElements.forEach(bytes, value) { element in
      if ByteScan.equals(bytes, element, "100-continue") {
        expectsContinue = true
      } else {
        hasUnknownExpectation = true
      }
    }
  }
}
