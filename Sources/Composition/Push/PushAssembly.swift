import Gateway
import HTTPClient
import Logging
import Model
import Push
import Storage
import Transport

/// The outbox, wired to the sender that settings name.
struct PushAssembly: Sendable {
  let service: PushService

  init(_ settings: Settings, store: Store, group: EventLoopGroup, logger: Logger) throws {
    service = PushService(
      store: store, sender: OutboxSender(), senders: PushService.Senders(settings.push.send),
      isAdminOn: settings.adminToken != nil, rules: [], surroundings: Self.surroundings,
      logger: logger, makeID: { RandomName.make() })
  }

  /// Returns once nothing is asked of the sender any more.
  func end() async {
    await service.end()
  }

  private static var surroundings: PushSurroundings {
    PushSurroundings(
      wall: SystemClock.wall.now(), reading: { SystemClock.uptime() }, boot: RandomName.make(),
      random: RandomBytes { UInt8.random(in: 0...UInt8.max) },
      chance: { Double.random(in: 0..<1) }, sleep: { try await Task.sleep(for: $0) })
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
