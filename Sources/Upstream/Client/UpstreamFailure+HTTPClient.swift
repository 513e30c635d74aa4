import HTTPClient

extension UpstreamFailure {
  init(_ error: HTTPClientError, bytesMax: Int) {
    switch error {
    case .invalidRequest, .unresolved, .connectFailed, .connectTimedOut, .tls, .breakerOpen,
      .clientClosed:
      self = .notSent(cause: "\(error)")
    case .queueFull, .queueTimedOut:
      self = .busy
    case .noResponseInTime, .responseTooSlow:
      self = .timeout(wasSent: true)
    case .connectionLost, .responseTruncated:
      self = .lost(cause: "\(error)")
    case .upgradeRefused(let status):
      self = .status(status, retryAfter: nil)
    case .responseMalformed, .responseUndecodable, .upgradeMalformed:
      self = .malformed(status: 0, reason: "\(error)", excerpt: "")
    case .responseTooLarge:
      self = .tooLarge(bytesMax: bytesMax)
    case .cancelled(let wasSent):
      self = .cancelled(wasSent: wasSent)
    }
  }
}
