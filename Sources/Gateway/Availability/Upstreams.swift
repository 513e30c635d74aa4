import Logging
package import Model
package import Upstream

/// One upstream as use cases call it: its client, with its own connections, limits and circuit
/// breakers, and its health.
package struct ServedUpstream: Sendable {
  package let client: UpstreamClient
  package let pulse: UpstreamPulse
  /// The rule for header fields of callers; nil for the only upstream, which gets all that the
  /// caller's identification kept.
  let forwarding: ForwardingRule?
  /// The places of clients' calls.
  package let shares: CallShares

  package init(
    client: UpstreamClient, pulse: UpstreamPulse, forwarding: ForwardingRule? = nil,
    shares: CallShares = .unlimited
  ) {
    self.client = client
    self.pulse = pulse
    self.forwarding = forwarding
    self.shares = shares
  }

  package var name: UpstreamName { client.settings.name }
  package var configuration: UpstreamConfiguration { client.settings }
}

/// The upstreams of the service by name. Each is called independently of the others.
package struct Upstreams: Sendable {
  /// In alphabetical order.
  package let all: [ServedUpstream]
  private let byName: [UpstreamName: ServedUpstream]
  /// In place of an upstream that is not configured; its calls fail without being sent.
  private let none: ServedUpstream
  /// The caller of what the service does by itself: without any header.
  package let service: Caller

  package init(_ upstreams: [ServedUpstream]) {
    all = upstreams.sorted { $0.name < $1.name }
    let rules = upstreams.compactMap { upstream in
      upstream.forwarding.map { (upstream.name, $0) }
    }
    service = .service(
      rules: Dictionary(rules, uniquingKeysWith: { first, _ in first }))
    byName = Dictionary(
      upstreams.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    none = ServedUpstream(
      client: .unconfigured,
      pulse: UpstreamPulse(
        uptime: { .zero }, logger: Logger(label: "larder") { _ in SwiftLogNoOpLogHandler() }))
  }

  /// A service with one upstream, whatever its name.
  package init(_ sole: ServedUpstream) {
    all = [sole]
    service = .anonymous
    byName = [:]
    none = sole
  }

  package init(client: UpstreamClient, pulse: UpstreamPulse) {
    self.init(ServedUpstream(client: client, pulse: pulse))
  }

  package subscript(name: UpstreamName) -> ServedUpstream { byName[name] ?? none }

  /// Returns the upstream that runs an operation.
  func upstream(of operation: RegisteredOperation) -> ServedUpstream { self[operation.upstream] }
}
