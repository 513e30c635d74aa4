import Model
import Upstream

extension UpstreamFailure {
  /// The refusal of a credential; nil for another failure.
  var permission: PermissionProblem? {
    switch self {
    case .refused(let problem): problem
    case .status(let status, _): PermissionProblem(status: status)
    default: nil
    }
  }

  /// The failure of a read. The client's next step is the same whether or not the query reached
  /// upstream.
  var readFailure: Failure {
    switch self {
    case .notSent(let cause):
      Failure(
        .upstreamUnreachable, "The upstream API could not be reached.", retry: .after,
        retryAfter: Self.pause, cause: cause)
    case .busy:
      Failure(
        .upstreamBusy, "Too many calls to the upstream API are waiting.", retry: .after,
        retryAfter: Self.pause, cause: "\(self)")
    case .timeout:
      Failure(
        .upstreamTimeout, "The upstream API did not respond in time.", retry: .after,
        cause: "\(self)")
    case .lost(let cause):
      Failure(
        .upstreamMalformed,
        "The connection to the upstream API was lost before the response was complete.",
        retry: .after, cause: cause)
    case .status(let status, let retryAfter):
      Self.failure(status: status, retryAfter: retryAfter)
    case .malformed(_, let reason, _):
      Failure(
        .upstreamMalformed, "The upstream API's response cannot be used: \(reason).",
        retry: .after, cause: "\(self)")
    case .tooLarge(let bytesMax):
      Failure(
        .upstreamTooLarge, "The upstream API's response is larger than \(bytesMax) bytes.")
    case .cancelled:
      Failure(.upstreamTimeout, "The call to the upstream API was cancelled.", retry: .after)
    case .refused(let problem):
      problem.failure
    case .serviceRefused(let refusal):
      Self.failure(refusal, retry: .after)
    case .rejected(let reason):
      Failure(.upstreamRejected, "The upstream API rejected the subscription: \(reason)")
    }
  }

  /// The failure of a mutation. If the mutation may have taken effect, repeating the request could
  /// apply it twice, so the failure never asks the client to retry.
  var mutationFailure: Failure {
    if mayHaveTakenEffect {
      return Failure(
        .outcomeUnknown,
        "The mutation was sent, but \(outcomePhrase): it may or may not have taken effect.",
        retry: .never, cause: "\(self)")
    }
    if case .serviceRefused(let refusal) = self { return Self.failure(refusal, retry: .never) }
    if case .status(let status, _) = self, ![425, 429, 503].contains(status) {
      return Failure(
        .upstreamFailed, "The upstream API refused the request with status \(status).",
        retry: .never, cause: "\(self)")
    }
    return readFailure
  }

  /// A clause that says why the outcome is unknown, for an error message.
  private var outcomePhrase: String {
    switch self {
    case .status(let status, _): "the upstream API responded with status \(status)"
    case .malformed(_, let reason, _):
      "the upstream API's response cannot be used (\(reason))"
    case .tooLarge(let bytesMax):
      "the upstream API's response is larger than \(bytesMax) bytes"
    case .lost: "the connection was lost before the response was complete"
    default: "no response came in time"
    }
  }

  /// How soon a client can retry when upstream is down.
  private static let pause = Duration.seconds(1)

  private static func failure(_ refusal: ServiceRefusal, retry: Failure.Retry) -> Failure {
    Failure(
      .upstreamFailed, "The upstream API does not accept this service's credential.", retry: retry,
      cause: "\(refusal.reason); \(refusal.cure)")
  }

  private static func failure(status: Int, retryAfter: Duration?) -> Failure {
    switch status {
    case 425, 429, 503:
      Failure(
        .upstreamBusy, "The upstream API is busy; retry later.", retry: .after,
        retryAfter: retryAfter ?? pause, cause: "status \(status)")
    case 408, 504:
      Failure(
        .upstreamTimeout, "The upstream API did not respond in time.", retry: .after,
        cause: "status \(status)")
    default:
      Failure(
        .upstreamFailed, "The upstream API failed.", retry: .after, cause: "status \(status)")
    }
  }
}

extension PermissionProblem {
  var failure: Failure {
    switch self {
    case .unauthenticated:
      Failure(.upstreamUnauthenticated, "The upstream API does not accept the credential.")
    case .forbidden:
      Failure(.upstreamForbidden, "The upstream API does not allow this.")
    }
  }
}
