import Gateway
import HTTPClient
import Logging
import Model
import Storage
import Transport
import Upstream

/// The hooks that are called about writes and outcomes, wired to an HTTP client of their own: a slow hook
/// takes no connection from upstream.
struct HooksOutAssembly: Sendable {
  /// Concurrent requests to one origin.
  private static let connectionsMax = 32
  private static let waitingMax = 256

  let service: OutgoingHooks
  private let client: HTTPClient
  /// For hooks that are asked before a write: failures of some writes must not decide about others.
  private let asking: HTTPClient

  init(
    _ workspace: Workspace, store: Store, group: EventLoopGroup, tls: ClientTLS,
    clock: TrustedClock, logger: Logger
  ) throws {
    let hooks = HooksOutCheck(
      settings: workspace.settings, registry: workspace.registry, local: workspace.local
    ).hooks
    var limits = HTTPClientSettings()
    limits.connectionsMax = Self.connectionsMax
    limits.queueMax = Self.waitingMax
    // Each hook's own timeout ends a request first.
    limits.firstByteTimeout = hooks.map(\.timeout).max() ?? limits.firstByteTimeout
    let isSecure = workspace.settings.outgoingHooks.contains { $0.url.scheme == "https" }
    let tls = try tls.context(if: isSecure)
    func client(_ limits: HTTPClientSettings) -> HTTPClient {
      HTTPClient(
        group: group, settings: limits, tls: tls, random: { Double.random(in: 0..<1) })
    }
    let reporting = client(limits)
    limits.sendAlways()
    let asking = client(limits)
    self.client = reporting
    self.asking = asking
    let asked = Set(hooks.filter { $0.moment == .before }.map(\.name))
    let exchange = HookExchange(clock: SystemClock.wall) {
      request, limit throws(HTTPClientError) in
      try await (asked.contains(request.operation) ? asking : reporting)
        .execute(request, within: limit)
    }
    service = OutgoingHooks(
      hooks: hooks, store: store,
      entities: EntityWriting.renderer(workspace), exchange: exchange,
      environment: PushEnvironment(
        wall: clock.now(), reading: { SystemClock.uptime() }, boot: RandomName.make(),
        random: RandomBytes { UInt8.random(in: 0...UInt8.max) },
        chance: { Double.random(in: 0..<1) }, sleep: { try await Task.sleep(for: $0) }),
      logger: logger)
  }

  /// Ends the delivery, and returns once no request is under way.
  func end() async {
    await service.end()
    await client.close()
    await asking.close()
  }
}
