import Model
import Upstream

extension UpstreamFailure {
  /// The failure of a read: what the client may do next is the same whether the query arrived.
  var readFailure: Failure {
    switch self {
    case .notSent(let cause):
      Failure(
        .upstreamUnreachable, "The upstream API could not be reached.", retry: .after,
        retryAfter: Self.pause, cause: cause)
    case .busy:
      Failure(
        .upstreamBusy, "Too many calls to the upstream API are waiting.", retry: .after,
        retryAfter: Self.pause)
    case .timeout:
      Failure(.upstreamTimeout, "The upstream API did not answer in time.", retry: .after)
    case .lost(let cause):
      Failure(
        .upstreamMalformed, "The upstream API broke off its answer.", retry: .after, cause: cause)
    case .status(let status, let retryAfter):
      Self.failure(status: status, retryAfter: retryAfter)
    case .malformed(let status, let excerpt):
      Failure(
        .upstreamMalformed, "The upstream API answered something that is not GraphQL.",
        retry: .after, cause: "status \(status): \(excerpt)")
    case .tooLarge(let bytesMax):
      Failure(
        .upstreamTooLarge, "The upstream API's answer is larger than \(bytesMax) bytes.")
    case .cancelled:
      Failure(.upstreamTimeout, "The call to the upstream API was given up.", retry: .after)
    }
  }

  /// The failure of a mutation: one that may have taken effect says so.
  var mutationFailure: Failure {
    switch self {
    case .timeout(wasSent: true), .cancelled(wasSent: true), .lost:
      Failure(
        .outcomeUnknown,
        "The mutation was sent and no answer came: it may or may not have taken effect.",
        cause: "\(self)")
    default:
      readFailure
    }
  }

  /// A dead upstream is worth another look soon.
  private static let pause = Duration.seconds(1)

  private static func failure(status: Int, retryAfter: Duration?) -> Failure {
    switch status {
    case 429, 503:
      Failure(
        .upstreamBusy, "The upstream API asks to come back later.", retry: .after,
        retryAfter: retryAfter ?? pause, cause: "status \(status)")
    case 408, 504:
      Failure(
        .upstreamTimeout, "The upstream API did not answer in time.", retry: .after,
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
