import Gateway
import HTTPClient
import Logging
import Model
import Transport
import Upstream

/// The HTTP clients of the upstreams, wired as settings configure them.
///
/// Each of several upstreams has its own: connections, limits, queues and circuit breakers are not
/// shared, so one that hangs does not take the others' connections, even on the same host.
struct UpstreamAssembly {
  let upstreams: Upstreams
  /// The rule of each upstream for header fields of callers.
  let forwarding: [UpstreamName: ForwardingRule]
  /// The HTTP clients of one upstream.
  struct Clients {
    let configuration: UpstreamConfiguration
    let calls: HTTPClient
    /// Event streams, each of which occupies a connection.
    let streams: HTTPClient
  }

  let clients: [UpstreamName: Clients]
  /// For account providers and token issuers; the only upstream's if there is one.
  let others: HTTPClient
  private let sharesClient: Bool

  init(
    _ settings: Settings, group: EventLoopGroup, tls: ClientTLS, pulses: UpstreamPulses,
    isReplica: Bool = false, logger: Logger
  ) throws {
    let all = settings.allUpstreams
    let asksOverTLS =
      all.contains {
        $0.settings.url?.scheme == "https" || $0.settings.websocketURL?.scheme == "wss"
      } || settings.accounts.asksOverTLS
    let tls = try tls.context(if: asksOverTLS)
    func client(_ limits: HTTPClientSettings) -> HTTPClient {
      HTTPClient(
        group: group, settings: limits, tls: tls, random: { Double.random(in: 0..<1) })
    }
    var clients: [UpstreamName: Clients] = [:]
    var served: [ServedUpstream] = []
    var forwarding: [UpstreamName: ForwardingRule] = [:]
    for (upstream, pulse) in zip(all, pulses.pulses(of: all, logger: logger)) {
      let isSole = upstream.name == .sole
      let limits = HTTPClientSettings(upstream)
      let own = Clients(
        configuration: UpstreamConfiguration(upstream), calls: client(limits),
        streams: client(limits.forStreams))
      clients[upstream.name] = own
      let rule = ForwardingRule(upstream.settings)
      forwarding[upstream.name] = rule
      served.append(
        ServedUpstream(
          client: UpstreamClient(
            settings: own.configuration, clock: SystemClock.wall, client: own.calls),
          pulse: pulse,
          forwarding: isSole ? nil : rule,
          shares: CallShares(concurrencyMax: limits.connectionsMax) {
            try await Task.sleep(for: $0)
          }))
    }
    upstreams = all.count == 1 ? Upstreams(served[0]) : Upstreams(served)
    // On a replica the upstreams' own clients are closed.
    let shared = isReplica ? nil : clients[.sole]?.calls
    others = shared ?? client(HTTPClientSettings())
    sharesClient = shared != nil
    self.clients = clients
    self.forwarding = forwarding
  }

  func close() async {
    for clients in clients.values {
      await clients.streams.close()
      await clients.calls.close()
    }
    if !sharesClient { await others.close() }
  }

  /// Makes every call of an upstream fail from now on: a replica never calls one, whatever its use cases
  /// attempt.
  func refuseCalls() async {
    for clients in clients.values {
      await clients.streams.close()
      await clients.calls.close()
    }
  }
}

extension HTTPClientSettings {
  fileprivate init(_ upstream: NamedUpstream) {
    self.init()
    connectionsMax = upstream.settings.concurrencyMax
    firstByteTimeout = upstream.settings.timeout
    totalTimeout = upstream.settings.timeout
    metricsUpstream = upstream.name.text
  }

  /// The same for event streams.
  fileprivate var forStreams: HTTPClientSettings {
    var limits = self
    let live = SubscriptionLimits()
    limits.connectionsMax = live.connectionsMax
    // The subscription's own deadline for silence comes first.
    limits.stallTimeout = live.keepAliveTimeout + .seconds(30)
    return limits
  }
}

extension ForwardingRule {
  init(_ settings: UpstreamSettings) {
    self.init(
      names: settings.forward,
      forwardsOwnTokens: settings.forwardsOwnTokens || !settings.hasOwnCredential)
  }
}

extension Settings {
  /// Whether one of several upstreams divides its data by a forwarded header that others do not receive.
  func dividesPublicData(of upstream: UpstreamName) -> Bool {
    let rules = allUpstreams.map { ($0.name, ForwardingRule($0.settings)) }
    return ForwardingRule.markers(of: Dictionary(uniqueKeysWithValues: rules))[upstream] != nil
  }
}

extension StoredDataGate {
  /// The gate for all stored types. A type is open only if no upstream whose operations store it is
  /// called with credentials of the service.
  init(_ workspace: Workspace) {
    let guarded = Set(
      workspace.settings.allUpstreams.filter(\.settings.hasServiceCredentials).map(\.name))
    let types = workspace.registry.upstreamsOfTypes
    self.init(
      hasServiceCredentials: !guarded.isEmpty, ownTypes: Set(workspace.local.types.keys),
      openTypes: Set(types.filter { $0.value.isDisjoint(with: guarded) }.keys))
  }
}
