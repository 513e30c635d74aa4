package import HTTPWire
package import Transport
package import WebSocketWire

/// The reason there is no response. Whether a caller can retry depends on `wasSent`: a request that was
/// never sent can always be retried; one that was sent may have been executed.
package enum HTTPClientError: Error, Equatable, Sendable {
  // Never sent.

  /// The request breaks the grammar or sets a field that only the client sets.
  case invalidRequest(String)
  /// The host's name has no address.
  case unresolved(String)
  case connectFailed(SystemError)
  case connectTimedOut
  case tls(TLSFailure)
  /// The upstream has failed too often; the next attempt is admitted after this time.
  case breakerOpen(retryAfter: Duration)
  /// The queue for a connection is full.
  case queueFull
  /// No connection became free in time.
  case queueTimedOut
  case clientClosed

  // Sent; whether it was executed is unknown.

  /// No byte of the response arrived in time.
  case noResponseInTime
  /// The response began but did not end in time.
  case responseTooSlow
  /// The connection closed before any byte of the response.
  case connectionLost
  /// The connection closed in the middle of the response.
  case responseTruncated
  case responseMalformed(ResponseError)
  /// The response exceeds the request's `responseBytesMax` or the limit on the decoding ratio.
  case responseTooLarge
  /// A content coding that was not requested, or malformed data in one that was.
  case responseUndecodable
  /// A WebSocket handshake got a response other than 101: 401 and 403 refuse the credentials, 5xx is an
  /// outage, redirects are not followed.
  case upgradeRefused(status: Int)
  /// A WebSocket handshake got a 101 response that does not fit the request.
  case upgradeMalformed(WebSocketHandshakeFault)

  /// The caller's task was cancelled.
  case cancelled(wasSent: Bool)

  /// Whether any byte of the request may have reached the upstream.
  package var wasSent: Bool {
    switch self {
    case .invalidRequest, .unresolved, .connectFailed, .connectTimedOut, .tls, .breakerOpen,
      .queueFull, .queueTimedOut, .clientClosed:
      false
    case .noResponseInTime, .responseTooSlow, .connectionLost, .responseTruncated,
      .responseMalformed,
      .responseTooLarge, .responseUndecodable, .upgradeRefused, .upgradeMalformed:
      true
    case .cancelled(let wasSent):
      wasSent
    }
  }
}

extension HTTPClientError: CustomStringConvertible {
  /// A description for logs.
  package var description: String {
    switch self {
    case .invalidRequest(let fault): "the request is invalid: \(fault)"
    case .unresolved(let host): "the host name \(host) has no address"
    case .connectFailed(let error): "the connection failed (\(error))"
    case .connectTimedOut: "the connection was not made in time"
    case .tls(let failure): "TLS failed: \(failure)"
    case .breakerOpen(let wait):
      "the circuit breaker is open after repeated failures, for \(wait.description) more"
    case .queueFull: "too many requests wait for a connection"
    case .queueTimedOut: "no connection came free in time"
    case .clientClosed: "the HTTP client is closed"
    case .noResponseInTime: "no response came in time"
    case .responseTooSlow: "the response was not complete in time"
    case .connectionLost: "the connection ended before a response"
    case .responseTruncated: "the connection ended within the response"
    case .responseMalformed(let fault): "the response is not valid HTTP: \(fault)"
    case .responseTooLarge: "the response is too large"
    case .responseUndecodable: "the response's content coding cannot be decoded"
    case .upgradeRefused(let status):
      "the server refused the WebSocket handshake with status \(status)"
    case .upgradeMalformed(let fault):
      "the server's WebSocket handshake is not valid: \(fault.explanation)"
    case .cancelled: "the request was cancelled"
    }
  }
}
