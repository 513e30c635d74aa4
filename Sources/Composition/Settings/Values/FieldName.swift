/// Header field names that settings may name: tokens, less those that belong to the connection or
/// that this service writes itself.
enum FieldName {
  /// These describe one connection or one message's framing (RFC 9110 section 7.6.1): passing them
  /// on is how requests are smuggled.
  private static let ofTheConnection: Set<String> = [
    "connection", "content-length", "expect", "host", "keep-alive", "proxy-authenticate",
    "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
  ]

  /// Written for each upstream request by the service.
  private static let ours: Set<String> = [
    "accept", "accept-encoding", "content-encoding", "content-type", "idempotency-key",
    "traceparent", "tracestate",
  ]

  /// Answered here and meaningless, or a leak, further on: each would also split the cache.
  private static let answeredHere: Set<String> = [
    "cache-control", "device-token", "if-match", "if-modified-since", "if-none-match", "if-range",
    "if-unmodified-since", "last-event-id", "range",
  ]

  /// - Returns: the name in lower case.
  static func parse(_ text: String, forwarded: Bool) throws(ValueRefusal) -> String {
    guard !text.isEmpty, text.utf8.allSatisfy(isTokenByte) else {
      throw ValueRefusal("a field name is letters, digits and !#$%&'*+-.^_`|~")
    }
    let name = text.lowercased()
    if ofTheConnection.contains(name) {
      throw ValueRefusal("that field belongs to the connection, not to the request")
    }
    if ours.contains(name) {
      throw ValueRefusal("that field is written for each upstream request by the service itself")
    }
    if forwarded, answeredHere.contains(name) {
      throw ValueRefusal("that field is answered here and never goes upstream")
    }
    return name
  }

  /// RFC 9110 section 5.6.2.
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    byte.isASCIIAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }
}
