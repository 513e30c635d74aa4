/// Why there is no usable upstream response. Each case states whether upstream may have acted.
package enum UpstreamFailure: Error, Hashable, Sendable {
  /// Nothing was sent: name resolution, connection or TLS failed, or the circuit breaker is open.
  /// Safe to retry.
  case notSent(cause: String)
  /// Too many calls in flight, and no slot became free before the deadline. Nothing was sent.
  case busy
  /// The deadline passed; `wasSent` states whether upstream may have acted.
  case timeout(wasSent: Bool)
  /// The connection ended before the whole response arrived: the outcome is unknown.
  case lost(cause: String)
  /// An error status without a GraphQL body.
  case status(Int, retryAfter: Duration?)
  /// Not a usable GraphQL response: HTML, malformed JSON, neither `data` nor `errors`, or data that
  /// violates the schema. The reason is fit for clients; the excerpt of the body is for the log.
  case malformed(status: Int, reason: String, excerpt: String)
  case tooLarge(bytesMax: Int)
  /// The caller disconnected.
  case cancelled(wasSent: Bool)
  /// Upstream does not accept the credential of a connection for subscriptions, or does not allow
  /// the subscription. A refused call has a response instead: ``UpstreamResponse/permission``.
  case refused(PermissionProblem)
  /// Upstream does not accept the service's own credential. It executed nothing.
  case serviceRefused(ServiceRefusal)
  /// Upstream does not execute a subscription, or ended it with errors. The reason is fit for
  /// clients.
  case rejected(reason: String)

  /// Whether upstream may have executed the operation.
  package var wasSent: Bool {
    switch self {
    case .notSent, .busy, .refused, .serviceRefused, .rejected: false
    case .timeout(let wasSent), .cancelled(let wasSent): wasSent
    case .lost, .status, .malformed, .tooLarge: true
    }
  }

  /// Whether a mutation that ended like this may have taken effect.
  ///
  /// A status rules it out only if it means that the request was refused: a gateway that timed out
  /// (502, 504) or a server that failed (500) does not say what was done.
  package var mayHaveTakenEffect: Bool {
    guard case .status(let status, _) = self else { return wasSent }
    switch status {
    case 408: return true
    case 400..<500, 503: return false
    // Redirects that ask for the same request elsewhere; 302 and 303 often mean "done".
    case 301, 304, 307, 308: return false
    default: return true
    }
  }
}

extension UpstreamFailure: CustomStringConvertible {
  /// For logs and terminals; can contain an excerpt of upstream's body.
  package var description: String {
    switch self {
    case .notSent(let cause): "upstream could not be reached: \(cause)"
    case .busy: "too many calls to upstream are waiting"
    case .timeout(wasSent: true): "upstream did not respond in time"
    case .timeout(wasSent: false): "the connection to upstream was not made in time"
    case .lost(let cause): "the connection to upstream was lost: \(cause)"
    case .status(let status, _): "upstream responded with status \(status)"
    case .malformed(let status, let reason, let excerpt):
      "upstream's response"
        + (status == 0 ? "" : " (status \(status))")
        + " cannot be used: \(reason)"
        + (excerpt.isEmpty ? "" : "; it begins: \(excerpt)")
    case .tooLarge(let bytesMax): "upstream's response is larger than \(bytesMax) bytes"
    case .cancelled: "the call to upstream was cancelled"
    case .refused(.unauthenticated): "upstream does not accept the credential"
    case .refused(.forbidden): "upstream does not allow this"
    case .serviceRefused(let refusal):
      "upstream does not accept the service's credential (\(refusal.reason); "
        + "\(refusal.settings.joined(separator: ", ")))"
    case .rejected(let reason): "upstream rejected the subscription: \(reason)"
    }
  }
}
