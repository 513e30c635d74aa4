package import HTTPWire
package import Transport

/// Why there is no answer. What a caller may do next hangs on `wasSent`: a request that never left
/// can be repeated by anyone; one that did may have been carried out.
package enum HTTPClientError: Error, Equatable, Sendable {
  // Never sent.

  /// The request breaks the grammar or sets a field that is the client's own.
  case invalidRequest(String)
  /// The host's name has no address.
  case unresolved(String)
  case connectFailed(SystemError)
  case connectTimedOut
  case tls(TLSFailure)
  /// The upstream has failed too often; the next attempt is let through after this time.
  case breakerOpen(retryAfter: Duration)
  /// As many requests wait for a connection as may.
  case queueFull
  /// No connection came free in time.
  case queueTimedOut
  case clientClosed

  // Sent; whether it was carried out is unknown.

  /// No byte of the answer came in time.
  case noResponseInTime
  /// The answer began but did not end in time.
  case responseTooSlow
  /// The connection ended before a byte of the answer.
  case connectionLost
  /// The connection ended within the answer.
  case responseTruncated
  case responseMalformed(ResponseError)
  /// More than the request's `responseBytesMax`, or far more than its coded size promised.
  case responseTooLarge
  /// A content coding that was not asked for, or broken data in one that was.
  case responseUndecodable

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
      .responseTooLarge, .responseUndecodable:
      true
    case .cancelled(let wasSent):
      wasSent
    }
  }
}

extension HTTPClientError: CustomStringConvertible {
  /// In the words of an operator's log.
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
    case .cancelled: "the request was cancelled"
    }
  }
}
