/// State collected from the fields that decide a request's framing, connection and caller.
///
/// Everything ambiguous is refused: request smuggling relies on two parties that read one head
/// differently.
struct RequestFraming: Sendable {
  private var hosts = 0
  private var hasAuthorization = false
  private var contentLength: Int?
  private var transferEncodings = 0
  private var options = ConnectionOptions()
  private var hasUpgrade = false
  private var expectsContinue = false
  private var hasUnknownExpectation = false

  /// Records a field, if it is one of those.
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

  /// Sets the head's framing and connection properties, once all fields have been recorded.
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
      // The response replaces `100 Continue`, after which some clients (botocore) misread the next
      // response on the same connection.
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

  /// Accepts one set of credentials (RFC 9110 11.6.2): code that reads the first of two, or treats an
  /// empty one as absent, would mistake one caller for another.
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
    case .overflow: throw .contentTooLarge
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

/// The options of the `Connection` field that this side acts on (RFC 9110 7.6.1).
struct ConnectionOptions: Sendable {
  var close = false
  var keepAlive = false
  var upgrade = false

  /// Adds the options of another line; unknown options are ignored.
  mutating func add(_ bytes: UnsafeRawBufferPointer, _ value: Range<Int>) {
    ListElements.forEach(bytes, value) { element in
      if ByteScan.equals(bytes, element, "close") { close = true }
      if ByteScan.equals(bytes, element, "keep-alive") { keepAlive = true }
      if ByteScan.equals(bytes, element, "upgrade") { upgrade = true }
    }
  }

  /// Returns whether the connection stays open after this message (RFC 9112 9.3).
  func persists(minorVersion: Int) -> Bool { !close && (minorVersion >= 1 || keepAlive) }
}

/// Parser for Content-Length (RFC 9110 8.6): decimal digits, leading zeros allowed.
enum ContentLength {
  enum Outcome: Equatable {
    case bytes(Int)
    /// Digits, but a number larger than `Int.max`.
    case overflow
    case malformed
  }

  static func parse(_ bytes: UnsafeRawBufferPointer, _ value: Range<Int>) -> Outcome {
    guard !value.isEmpty else { return .malformed }
    var length = 0
    var overflows = false
    for index in value {
      guard bytes[index].isDigit else { return .malformed }
      let (product, first) = length.multipliedReportingOverflow(by: 10)
      let (sum, second) = product.addingReportingOverflow(Int(bytes[index] &- 0x30))
      overflows = overflows || first || second
      length = sum
    }
    return overflows ? .overflow : .bytes(length)
  }
}

/// Iteration over a comma-separated list of tokens, without empty elements (RFC 9110 5.6.1).
enum ListElements {
  @inline(__always)
  static func forEach(
    _ bytes: UnsafeRawBufferPointer, _ value: Range<Int>, _ body: (Range<Int>) -> Void
  ) {
    var start = value.lowerBound
    var index = start
    while index <= value.upperBound {
      if index == value.upperBound || bytes[index] == ASCII.comma {
        let element = ByteScan.trimmed(start..<index, in: bytes)
        if !element.isEmpty { body(element) }
        start = index + 1
      }
      index += 1
    }
  }
}
