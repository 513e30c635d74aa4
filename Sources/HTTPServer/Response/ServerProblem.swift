import HTTPTypes
package import HTTPWire
package import WebSocketWire

/// A problem that the server itself responds with, without a handler.
package enum ServerProblem: Sendable, Hashable {
  /// The request could not be read.
  case refused(RequestError)
  /// There are too many connections.
  case overloaded
  /// The caller has sent more requests than the rate limit allows.
  case rateLimited(retryAfterSeconds: Int)
  /// No route has this path.
  case notFound
  /// The path exists, but not for this method.
  case methodNotAllowed
  /// The content exceeds the limit of its route.
  case contentTooLarge
  /// The WebSocket handshake is not valid, or a route that serves only WebSockets got none.
  case badHandshake(WebSocketHandshakeFault)
  /// An internal error.
  case unexpected

  package var status: Int {
    switch self {
    case .refused(let error): error.status
    case .overloaded: 503
    case .rateLimited: 429
    case .notFound: 404
    case .methodNotAllowed: 405
    case .contentTooLarge: 413
    case .badHandshake(let fault): fault.status
    case .unexpected: 500
    }
  }

  /// A stable name, in snake case.
  package var code: StaticString {
    switch self {
    case .refused(let error): Self.code(status: error.status)
    case .overloaded: "overloaded"
    case .rateLimited: "rate_limited"
    case .notFound: "not_found"
    case .methodNotAllowed: "method_not_allowed"
    case .contentTooLarge: "body_too_large"
    case .badHandshake(let fault): Self.code(status: fault.status)
    case .unexpected: "internal"
    }
  }

  /// Whether to send the same request again: `never`, or `after` a while.
  package var retry: StaticString {
    switch self {
    case .overloaded, .rateLimited: "after"
    case .refused(.timedOut): "after"
    case .refused, .notFound, .methodNotAllowed, .contentTooLarge, .badHandshake,
      .unexpected:
      "never"
    }
  }

  package var detail: StaticString {
    switch self {
    case .refused(let error): error.explanation
    case .overloaded: "The server has too many connections; retry in a moment."
    case .rateLimited: "The rate limit is exceeded; retry after the time in Retry-After."
    case .notFound: "There is no resource at this path."
    case .methodNotAllowed: "The path does not support this method; see Allow."
    case .contentTooLarge: "The body exceeds the limit of this route."
    case .badHandshake(let fault): fault.explanation
    case .unexpected: "An internal error occurred."
    }
  }

  private static func code(status: Int) -> StaticString {
    switch status {
    case 405: "method_not_allowed"
    case 408: "request_timeout"
    case 413: "body_too_large"
    case 414: "target_too_long"
    case 415: "unsupported_media_type"
    case 417: "unknown_expectation"
    case 426: "upgrade_required"
    case 431: "head_too_large"
    case 501: "not_implemented"
    case 505: "version_not_supported"
    default: "malformed_request"
    }
  }
}

extension ServerProblem {
  /// Renders problem details (RFC 9457) without a JSON library: no part needs escapes, except for a
  /// path, which is omitted if it does.
  ///
  /// - Parameters:
  ///   - path: the request's path, percent-encoded; nil if its head could not be read.
  ///   - right: the path that there is, if only a slash at the end of the request's path is too much.
  func document(path: String?, requestID: String, right: String? = nil) -> [UInt8] {
    var output: [UInt8] = []
    output.append("{\"type\":\"about:blank\",\"title\":\"")
    output.append(StatusLine.reason(status))
    output.append("\",\"status\":")
    output.append(decimal: status)
    output.append(",\"detail\":\"")
    output.append(detail)
    if let right, right.utf8.allSatisfy(Self.isPlain) {
      output.append(" There is one at ")
      output.append(contentsOf: right.utf8)
      output.append(", without a slash at the end.")
    }
    if let path, path.utf8.allSatisfy(Self.isPlain) {
      output.append("\",\"instance\":\"")
      output.append(contentsOf: path.utf8)
    }
    output.append("\",\"code\":\"")
    output.append(code)
    output.append("\",\"retry\":\"")
    output.append(retry)
    output.append("\",\"requestId\":\"")
    output.append(contentsOf: requestID.utf8)
    output.append("\"}")
    return output
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    (0x21..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }
}

extension ServerResponse {
  /// Makes a handler's response from a problem.
  ///
  /// - Parameter right: the path that there is, if only a slash at the end of the request's path is too much.
  package static func problem(
    _ problem: ServerProblem, for request: ServerRequest, right: String? = nil
  ) -> ServerResponse {
    ServerResponse(
      status: HTTPResponse.Status(code: problem.status),
      fields: [.contentType: "application/problem+json", .cacheControl: "no-store"],
      body: .bytes(
        problem.document(path: request.path, requestID: request.id, right: right)))
  }
}

/// The content of a refusal by the server.
package struct RefusalContent: Sendable, Equatable {
  package let mediaType: String
  package let bytes: [UInt8]

  package init(mediaType: String, bytes: [UInt8]) {
    self.mediaType = mediaType
    self.bytes = bytes
  }
}

/// The response to a client that sends plain HTTP to a TLS listener. It cannot read anything else, and
/// would otherwise see a connection that just closes.
package enum PlainRequestResponse {
  package static let bytes: [UInt8] = {
    let body =
      #"{"type":"about:blank","title":"Bad Request","status":400,"detail":"#
      + #""This port accepts only HTTPS; use an https URL."}"#
    let head = """
      HTTP/1.1 400 Bad Request\r
      Content-Type: application/problem+json\r
      Content-Length: \(body.utf8.count)\r
      Cache-Control: no-store\r
      Connection: close\r
      \r

      """
    return Array((head + body).utf8)
  }()
}
