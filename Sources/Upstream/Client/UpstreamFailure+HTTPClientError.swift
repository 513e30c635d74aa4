import HTTPClient

extension UpstreamFailure {
  init(_ error: HTTPClientError, bytesMax: Int) {
    switch error {
    case .queueFull, .queueTimedOut:
      self = .busy
    case .connectTimedOut:
      self = .timeout(wasSent: false)
    case .noAnswerInTime, .answerTooSlow:
      self = .timeout(wasSent: true)
    case .answerTooLarge:
      self = .tooLarge(bytesMax: bytesMax)
    case .answerUndecodable, .answerMalformed:
      self = .malformed(status: 0, excerpt: "\(error)")
    case .connectionLost, .answerTruncated:
      self = .lost(cause: "\(error)")
    case .cancelled(let wasSent):
      self = .cancelled(wasSent: wasSent)
    case .invalidRequest, .unresolved, .connectFailed, .tls, .breakerOpen, .clientClosed:
      self = .notSent(cause: "\(error)")
    }
  }
}
