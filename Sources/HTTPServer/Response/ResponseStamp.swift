import HTTPTypes
package import HTTPWire

/// Writer of the fields that every response of one loop carries: date, request id, and the state of the
/// rate limit.
///
/// There is one per loop, used only there; the date is rendered once a second.
package final class ResponseStamp {
  /// Seconds since 1970, as of the loop's turn.
  ///
  /// Computed, so that other modules, which check exclusive access to stored properties, read it without.
  package var secondsSince1970: Int64 { seconds }
  private var seconds: Int64 = .min
  /// The range in the output of the request id appended last, for the access log.
  private(set) var lastRequestIDRange = 0..<0
  /// What the handler of an immediate response knows of the request.
  package var facts = RequestFacts()
  /// The rate limit's verdict on the current request; `nil` without a limit.
  var rate: RateVerdict?
  private var dateLine: [UInt8] = []
  /// The `Strict-Transport-Security` line, or nothing.
  private let transportSecurity: [UInt8]
  private var ids: RequestIDGenerator

  /// - Parameters:
  ///   - seed: makes this loop's request ids differ from those of other loops.
  ///   - strictTransportAge: how long clients must use only TLS (RFC 6797); nil omits the field.
  package init(seed: UInt64, strictTransportAge: Duration? = nil) {
    ids = RequestIDGenerator(seed: seed)
    var line: [UInt8] = []
    if let age = strictTransportAge {
      line.append("Strict-Transport-Security: max-age=")
      line.append(decimal: Int(age.components.seconds))
      line.appendLineEnd()
    }
    transportSecurity = line
  }

  /// Clears what belongs to the last request. Call it before a response whose handler may write no id.
  func forgetRequest() {
    lastRequestIDRange = 0..<0
    facts = RequestFacts()
  }

  /// Sets the time and renders the date if it has changed.
  package func setTime(secondsSince1970 seconds: Int64) {
    guard seconds != self.seconds else { return }
    self.seconds = seconds
    dateLine.removeAll(keepingCapacity: true)
    dateLine.append("Date: ")
    dateLine.append(contentsOf: HTTPDate(secondsSince1970: seconds).bytes)
    dateLine.appendLineEnd()
    dateLine.append(contentsOf: transportSecurity)
  }

  /// Appends the `Date` line and the other fields that are the same in every response.
  package func appendDate(to output: inout [UInt8]) {
    output.append(bytes: dateLine)
  }

  /// Appends what ``appendDate(to:)`` does without the date, for a response with its own date.
  func appendFieldsBesideDate(to output: inout [UInt8]) {
    output.append(contentsOf: transportSecurity)
  }

  /// Appends a status line and the fields of ``appendDate(to:)`` and ``appendRequestID(for:to:)``.
  ///
  /// - Parameter statusLine: with its line end.
  package func appendHead(
    _ statusLine: StaticString, for head: borrowing RequestHead, to output: inout [UInt8]
  ) {
    let name: StaticString = "Request-Id: "
    if rate != nil || head.fields.contains("request-id") || head.fields.contains("x-request-id") {
      output.append(statusLine)
      appendDate(to: &output)
      return appendRequestID(for: head, to: &output)
    }
    let start =
      output.count &+ statusLine.utf8CodeUnitCount &+ dateLine.count &+ name.utf8CodeUnitCount
    lastRequestIDRange = start..<start &+ RequestIDGenerator.idBytes
    let digits = ids.next()
    output.append(bytesMax: lastRequestIDRange.upperBound &+ 2 &- output.count) { space in
      space.append(statusLine)
      space.append(bytes: dateLine)
      space.append(name)
      withUnsafeBytes(of: digits) { space.append($0) }
      space.append("\r\n")
    }
  }

  /// Appends the `Request-Id` line for a request, with its own id (`Request-Id`, or else `X-Request-Id`)
  /// if that is valid, and the lines of the rate limit, if there is one.
  package func appendRequestID(for head: borrowing RequestHead, to output: inout [UInt8]) {
    output.append("Request-Id: ")
    let start = output.count
    chooseRequestID(for: head, in: &output)
    lastRequestIDRange = start..<output.count
    output.appendLineEnd()
    rate?.append(to: &output)
  }

  /// Returns the id for a request, for use outside the response's head.
  func requestID(for head: borrowing RequestHead) -> String {
    var id: [UInt8] = []
    chooseRequestID(for: head, in: &id)
    return String(decoding: id, as: UTF8.self)
  }

  /// Returns an id for a response without a request.
  func freshRequestID() -> String {
    var id: [UInt8] = []
    ids.append(to: &id)
    return String(decoding: id, as: UTF8.self)
  }

  private func chooseRequestID(for head: borrowing RequestHead, in output: inout [UInt8]) {
    // Most proxies send the second name.
    for own in [head["request-id"], head["x-request-id"]] {
      guard let own, RequestIDGenerator.isAcceptable(own) else { continue }
      return output.append(contentsOf: own)
    }
    ids.append(to: &output)
  }
}

/// Writer of the head of a handler's response.
enum ResponseHeadFields {
  /// Appends the status line, the server's fields and the handler's, without the empty line.
  static func append(
    _ response: PreparedResponse, requestID: String, stamp: ResponseStamp,
    to output: inout [UInt8]
  ) {
    StatusLine.append(response.status, to: &output)
    if response.fields[.date] == nil {
      stamp.appendDate(to: &output)
    } else {
      stamp.appendFieldsBesideDate(to: &output)
    }
    output.appendField("Request-Id", requestID.utf8)
    output.append("X-Content-Type-Options: nosniff\r\n")
    for field in response.fields where !isOwned(field.name) {
      output.appendField(field.name.rawName, field.value.utf8)
    }
  }

  /// Returns whether only the server sets the field.
  private static func isOwned(_ name: HTTPField.Name) -> Bool {
    let name = name.canonicalName
    return switch name.utf8.count {
    case 10: name == "connection" || name == "keep-alive" || name == "request-id"
    case 14: name == "content-length"
    case 17: name == "transfer-encoding"
    case 22: name == "x-content-type-options"
    default: false
    }
  }
}
