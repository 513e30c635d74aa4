import HTTPClient

extension UpstreamFailure {
  init(_ error: HTTPClientError, bytesMax: Int) {
    switch error {
    case .invalidRequest, .unresolved, .connectFailed, .connectTimedOut, .tls, .breakerOpen,
      .clientClosed:
      self = .notSent(cause: "\(error)")
    case .queueFull, .queueTimedOut:
      self = .busy
    case .noAnswerInTime, .answerTooSlow:
      self = .timeout(wasSent: true)
    case .connectionLost, .answerTruncated:
      self = .lost(cause: "\(error)")
    case .answerMalformed, .answerUndecodable:
      self = .malformed(status: 0, reason: "\(error)", excerpt: "")
    case .answerTooLarge:
      self = .tooLarge(bytesMax: bytesMax)
    case .cancelled(let wasSent):
      self = .cancelled(wasSent: wasSent)
    }
  }
}
