import Cryptography
import Model
import Upstream

extension UpstreamFailure {
  /// The failure of a subscription, for its clients.
  var subscriptionFailure: Failure { permission?.failure ?? readFailure }
}

extension Failure {
  /// For a client whose group's subscription was opened with the token of another member.
  static var otherMembersRefusal: Failure {
    Failure(
      .upstreamBusy, "The subscription ended with the token it was opened with; open it again.",
      retry: .after, retryAfter: .seconds(1))
  }
}

/// The names of the credentials that subscriptions' connections use.
enum SubscriptionCredential {
  /// Returns a name that requests share if and only if the same headers authenticate them: the service's
  /// own credential, or one caller's. It reveals neither.
  static func name(for request: ReadRequest) -> String {
    let scope = request.scope
    let owner =
      switch scope.kind {
      case .public, .role: ""
      // A member's token, without the member's other credentials.
      case .claim: "claim \(request.caller.subject ?? "")"
      case .user, .device: "user \(scope.subject)"
      }
    return EntityDigest.tag(of: Array("\(owner.utf8.count) \(owner)\(scope.partition)".utf8))
  }
}
