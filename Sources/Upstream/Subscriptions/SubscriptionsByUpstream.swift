package import Model
import Synchronization

/// The live sides of all upstreams: each operation's subscriptions are opened at its own.
package struct SubscriptionsByUpstream: SubscriptionOpening {
  /// The one event of a subscription whose upstream is not configured.
  private final class Refusal: Sendable {
    private let isTaken = Atomic(false)

    func take() -> SubscriptionEvent? {
      isTaken.exchange(true, ordering: .relaxed)
        ? nil : .failed(.notSent(cause: "the upstream is not configured"))
    }
  }

  private let byName: [UpstreamName: UpstreamSubscriptions]

  package init(_ byName: [UpstreamName: UpstreamSubscriptions]) {
    self.byName = byName
  }

  package func open(
    _ operation: RegisteredOperation, variables: Variables, call: UpstreamCall, credential: String
  ) -> UpstreamSubscription {
    guard let upstream = byName[operation.upstream] else {
      let refusal = Refusal()
      return UpstreamSubscription(next: { refusal.take() }, cancel: { _ = refusal.take() })
    }
    return upstream.open(operation, variables: variables, call: call, credential: credential)
  }

  package func renew(
    _ operation: RegisteredOperation, credential: String, with call: UpstreamCall
  ) {
    byName[operation.upstream]?.renew(operation, credential: credential, with: call)
  }

  package func isOff(for operation: RegisteredOperation) -> Bool {
    byName[operation.upstream]?.isOff(for: operation) == true
  }

  /// Returns the connections of an upstream; nil if it is not configured.
  package func status(of upstream: UpstreamName) -> LiveSideStatus? { byName[upstream]?.status }

  /// Ends all subscriptions and connections, and refuses further ones.
  package func stop() {
    for upstream in byName.values { upstream.stop() }
  }
}
