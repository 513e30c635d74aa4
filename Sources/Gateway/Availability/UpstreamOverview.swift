package import Model
package import Upstream

/// One upstream as operators see it. Counts are since the start.
package struct UpstreamStatus: Sendable {
  /// The circuit breakers of its calls.
  package struct Breaker: Sendable {
    /// `closed`, `open` or `probing`.
    package let state: String
    /// The operations whose own breaker is not closed, in alphabetical order.
    package let operations: [String]
  }

  /// The connections for subscriptions.
  package struct Live: Sendable {
    /// Those that are open now.
    package let connections: Int
    package let reconnects: Int
    /// Interruptions after which a subscription went on.
    package let gaps: Int
    /// Subscriptions whose credential upstream did not accept.
    package let refusals: Int
  }

  package let name: UpstreamName
  /// Scheme, host and port; nil if the service has no upstream.
  package let origin: String?
  /// Nil before the first call.
  package let isReachable: Bool?
  package let outage: UpstreamPulse.OutageStatus?
  /// Nil before the first call.
  package let breaker: Breaker?
  /// Of calls; those of subscriptions are in ``live``.
  package let refusals: UpstreamPulse.RefusalStatus
  package let live: Live?
  /// Nil unless upstream refuses the service's own credential.
  package let serviceRefusal: UpstreamPulse.ServiceRefusalStatus?
}

/// The state of all upstreams, each by itself, for operators.
package struct UpstreamOverview: Sendable {
  private let upstreams: Upstreams
  private let connections: SubscriptionsByUpstream

  package init(upstreams: Upstreams, connections: SubscriptionsByUpstream) {
    self.upstreams = upstreams
    self.connections = connections
  }

  /// In alphabetical order.
  package var statuses: [UpstreamStatus] { upstreams.all.map(status) }

  private func status(_ upstream: ServedUpstream) -> UpstreamStatus {
    let breakers = upstream.client.breakers
    let live = connections.status(of: upstream.name)
    return UpstreamStatus(
      name: upstream.name, origin: upstream.client.origin,
      isReachable: upstream.pulse.isReachable, outage: upstream.pulse.outageStatus,
      breaker: breakers.map { .init(state: $0.state, operations: $0.operations) },
      refusals: upstream.pulse.refusalStatus,
      live: live.map {
        .init(
          connections: $0.connections, reconnects: $0.reconnects, gaps: $0.gaps,
          refusals: $0.refusals)
      }, serviceRefusal: upstream.pulse.serviceRefusal)
  }
}
