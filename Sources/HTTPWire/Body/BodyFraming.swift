/// How the end of a body is found (RFC 9112 6.3).
package enum BodyFraming: Sendable, Hashable {
  case none
  /// Content-Length, in bytes.
  case length(Int)
  case chunked
  /// The body ends with the connection. Responses only.
  case untilClose
}
