import Gateway
import HTTPClient
import Logging
import Model
import Push
import Storage
import Transport

/// The outbox, wired to the sender that settings name.
struct PushAssembly: Sendable {
  /// Batches and registrations that are under way at once are fewer than this.
  private static let connectionsMax = 16

  let service: PushService
  /// Nil where the sender asks nobody.
  private let client: HTTPClient?

  init(
    _ settings: Settings, store: Store, group: EventLoopGroup, clock: TrustedClock, logger: Logger
  ) throws {
    let push = settings.push
    let sender: any PushSender
    switch push.sender {
    case .outbox:
      sender = OutboxSender()
      client = nil
    case .onesignal:
      let oneSignal = OneSignalSettings(push)
      let client = try Self.client(of: oneSignal, group: group)
      sender = OneSignalSender(oneSignal, clock: SystemClock.wall) {
        request, limit throws(HTTPClientError) in
        try await client.execute(request, within: limit)
      }
      self.client = client
    }
    service = PushService(
      store: store, sender: sender, senders: PushService.Senders(push.send),
      sendsPerMinute: push.sendsPerMinute, isAdminOn: settings.adminToken != nil,
      rules: push.rules.map(\.rule), surroundings: Self.surroundings(clock), logger: logger,
      makeID: { RandomName.make() })
  }

  /// Returns once nothing is asked of the sender any more.
  func end() async {
    await service.end()
    await client?.close()
  }

  /// Apart from upstream's: OneSignal may take longer than any upstream should.
  static func client(
    of settings: OneSignalSettings, group: EventLoopGroup
  ) throws -> HTTPClient {
    var limits = HTTPClientSettings()
    limits.connectionsMax = connectionsMax
    limits.firstByteTimeout = OneSignalExchange.timeout
    limits.totalTimeout = OneSignalExchange.timeout
    return HTTPClient(
      group: group, settings: limits,
      tls: settings.base.hasPrefix("https:") ? try TLSClientContext() : nil,
      random: { Double.random(in: 0..<1) })
  }

  private static func surroundings(_ clock: TrustedClock) -> PushEnvironment {
    PushEnvironment(
      wall: clock.now(), reading: { SystemClock.uptime() }, boot: RandomName.make(),
      random: RandomBytes { UInt8.random(in: 0...UInt8.max) },
      chance: { Double.random(in: 0..<1) }, sleep: { try await Task.sleep(for: $0) })
  }
}

extension OneSignalSettings {
  /// The settings' checks have seen that what must be there is there.
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
