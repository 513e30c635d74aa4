/// Why upstream gave no answer that could be read. Each case says whether upstream may have acted.
package enum UpstreamFailure: Error, Hashable, Sendable {
  /// Nothing left this process: name, connect, TLS, breaker open. Safe to send again.
  case notSent(cause: String)
  /// Too many calls in flight, and no place came free before the deadline. Nothing was sent.
  case busy
  /// The deadline passed; `wasSent` tells whether upstream may have acted.
  case timeout(wasSent: Bool)
  /// The connection ended before the whole answer was here: the outcome is unknown.
  case lost(cause: String)
  /// An error status without a GraphQL body.
  case status(Int, retryAfter: Duration?)
  /// Neither GraphQL nor a status that explains it: HTML, broken JSON, no `data` and no `errors`.
  case malformed(status: Int, excerpt: String)
  case tooLarge(bytesMax: Int)
  /// The caller went away.
  case cancelled(wasSent: Bool)

  /// Whether upstream may have executed the operation.
  package var wasSent: Bool {
    switch self {
    case .notSent, .busy: false
    case .timeout(let wasSent), .cancelled(let wasSent): wasSent
    case .lost, .status, .malformed, .tooLarge: true
    }
  }
}
