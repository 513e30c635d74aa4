package import HTTPTypes

/// A request held in memory.
package struct HTTPClientRequest: Sendable {
  package var method: HTTPRequest.Method
  package var url: HTTPURL
  /// The value of `Host`; nil for the authority of `url`. A gateway that passes a request on keeps the one
  /// that its client sent.
  package var authority: String?
  /// The caller's fields. `Host`, `Connection`, `Content-Length` and the other fields of the connection
  /// are set by the client and refused here. Without an `Accept-Encoding` the client requests gzip and
  /// decodes it.
  package var fields: HTTPFields
  package var body: [UInt8]
  /// Whether the request can be sent a second time when a reused connection closed before any byte of
  /// the response. The default depends on the method (RFC 9110, 9.2.2); a GraphQL query sent by POST is
  /// safe too, which only the caller knows.
  package var isSafeToRepeat: Bool
  /// The limit on bytes of the response's body, after decoding.
  package var responseBytesMax: Int
  /// The name under which the circuit breaker counts failures: requests with the same name share a
  /// breaker, in addition to the origin's. Use a bounded set, such as the names of registered operations.
  package var operation: String

  static let responseBytesMaxDefault = 16 * 1024 * 1024

  package init(
    method: HTTPRequest.Method, url: HTTPURL, fields: HTTPFields = [:], body: [UInt8] = [],
    isSafeToRepeat: Bool? = nil, responseBytesMax: Int = responseBytesMaxDefault,
    operation: String = ""
  ) {
    self.method = method
    self.url = url
    self.fields = fields
    self.body = body
    self.isSafeToRepeat = isSafeToRepeat ?? Self.isIdempotent(method)
    self.responseBytesMax = responseBytesMax
    self.operation = operation
  }

  private static func isIdempotent(_ method: HTTPRequest.Method) -> Bool {
    switch method {
    case .get, .head, .options, .put, .delete: true
    default: false
    }
  }
}

/// A request's content that is read while it is sent, so that it is never held in memory.
///
/// It is read once: such a request is never sent a second time.
package struct HTTPClientContent: Sendable {
  package enum Step: Sendable {
    case piece([UInt8])
    /// The end of the content. If that is too early, the connection is reset, so that the upstream does
    /// not mistake the beginning for the whole.
    case end
    /// The content cannot be read to its end: the connection is reset.
    case failed
  }

  /// Bytes of the content, at least one; nil if the length is not known, which sends it chunked.
  package let byteCount: Int?
  /// Returns the next piece; called once there is room for it.
  package let next: @Sendable () async -> Step

  package init(byteCount: Int?, next: @escaping @Sendable () async -> Step) {
    self.byteCount = byteCount
    self.next = next
  }
}

/// A response held in memory.
package struct HTTPClientResponse: Sendable, Equatable {
  package var status: HTTPResponse.Status
  /// The fields as received; without `Content-Encoding` and `Content-Length` when the client has
  /// decoded the body.
  package var fields: HTTPFields
  package var body: [UInt8]

  package init(status: HTTPResponse.Status, fields: HTTPFields = [:], body: [UInt8] = []) {
    self.status = status
    self.fields = fields
    self.body = body
  }
}
