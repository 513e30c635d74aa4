/// A response's status line and fields, checked, kept as offsets into the bytes it owns.
package struct ResponseHead: Sendable {
  /// The field lines; ``FieldSection/bytes`` holds the whole head.
  package internal(set) var fields = FieldSection()
  /// 100–999. What is above 599 is to be treated as 500 is (RFC 9110 15).
  package internal(set) var status = 0
  /// 0 for HTTP/1.0, otherwise 1.
  package internal(set) var minorVersion = 1
  /// Whether the server lets the connection be used again.
  package internal(set) var keepsAlive = true
  var contentLength: Int?
  var isChunked = false
  var asksForUpgrade = false

  package init() {}

  /// The first value of a field.
  ///
  /// - Parameter name: in lower case.
  package subscript(name: StaticString) -> ArraySlice<UInt8>? { fields[name] }

  /// How the body is delimited, which the request's method has a say in (RFC 9112 6.3).
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
