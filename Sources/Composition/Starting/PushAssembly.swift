import Gateway
import HTTPClient
import Logging
import Model
import Storage
import Transport

/// The notification outbox, wired to the sender that settings name.
struct PushAssembly: Sendable {
  /// More than the maximum of concurrent batches and registrations.
  private static let connectionsMax = 16

  let service: PushService
  /// Nil if the sender calls no service.
  private let client: HTTPClient?

  init(
    _ settings: Settings, store: Store, group: EventLoopGroup, tls: ClientTLS,
    clock: TrustedClock, logger: Logger
  ) throws {
    let push = settings.push
    let sender: any PushSender
    switch push.sender {
    case .outbox:
      sender = OutboxSender()
      client = nil
    case .onesignal where !push.isOn:
      sender = OutboxSender()
      client = nil
    case .onesignal:
      let oneSignal = OneSignalSettings(push)
      let client = try Self.client(of: oneSignal, group: group, tls: tls)
      sender = OneSignalSender(oneSignal, clock: SystemClock.wall) {
        request, limit throws(HTTPClientError) in
        try await client.execute(request, within: limit)
      }
      self.client = client
    }
    service = PushService(
      store: store, sender: sender, senders: PushService.Senders(push.send),
      sendsPerMinute: push.sendsPerMinute, isAdminOn: settings.adminToken != nil,
      rules: push.rules.map(\.rule), environment: Self.environment(clock), logger: logger,
      makeID: { RandomName.make() })
  }

  /// Ends the outbox and returns once no call to the sender is under way.
  func end() async {
    await service.end()
    await client?.close()
  }

  /// A client separate from upstream's, because OneSignal can take longer than upstream may.
  static func client(
    of settings: OneSignalSettings, group: EventLoopGroup, tls: ClientTLS = ClientTLS()
  ) throws -> HTTPClient {
    var limits = HTTPClientSettings()
    limits.connectionsMax = connectionsMax
    limits.firstByteTimeout = OneSignalExchange.timeout
    limits.totalTimeout = OneSignalExchange.timeout
    return HTTPClient(
      group: group, settings: limits,
      tls: try tls.context(if: settings.base.hasPrefix("https:")),
      random: { Double.random(in: 0..<1) })
  }

  private static func environment(_ clock: TrustedClock) -> PushEnvironment {
    PushEnvironment(
      wall: clock.now(), reading: { SystemClock.uptime() }, boot: RandomName.make(),
      random: RandomBytes { UInt8.random(in: 0...UInt8.max) },
      chance: { Double.random(in: 0..<1) }, sleep: { try await Task.sleep(for: $0) })
  }
}

extension OneSignalSettings {
  /// The settings' checks have made sure that required members are set.
  init(_ settings: PushSettings) {
    let api: OneSignalAPI =
      switch settings.api {
      case .current: .current
      case .legacy: .legacy
      }
    self.init(
      api: api, url: settings.url?.text, appID: settings.appID ?? "",
      key: settings.apiKey?.revealed ?? "")
  }
}

extension PushService.Senders {
  fileprivate init(_ senders: PushSettings.MaySend) {
    switch senders {
    case .users: self = .users
    case .admin: self = .admin
    }
  }
}
