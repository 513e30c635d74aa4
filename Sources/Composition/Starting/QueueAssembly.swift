import Gateway
import Model

/// The sync queue's surroundings as settings and the system give them.
enum QueueAssembly {
  /// A queue takes at most half of the calls that may be under way to upstream, so that a device
  /// that comes back with a thousand mutations does not keep readers waiting.
  static func concurrencyMax(_ settings: Settings) -> Int {
    max(1, settings.upstream.concurrencyMax / 2)
  }

  static func signOutPolicy(_ settings: Settings) -> SignOutPolicy {
    switch settings.queue.onLogout {
    case .drain: .drain
    case .drop: .drop
    case .park: .park
    }
  }

  static func surroundings(_ settings: Settings, clock: TrustedClock) -> QueueEnvironment {
    let queue = settings.queue
    return QueueEnvironment(
      policy: QueuePolicy(
        debounce: queue.debounce, parallel: queue.parallelMax,
        forceDeadline: queue.forceDeadline, probe: queue.probeInterval,
        // Upstream's own time ends an attempt first; this one is for what is lost on the way.
        answerDeadline: settings.upstream.timeout * 2 + .seconds(10),
        itemsMax: queue.itemsMax, quota: DataQuota(settings.devices)),
      wall: clock.now(), reading: { SystemClock.uptime() }, boot: RandomName.make(),
      random: { UInt64.random(in: 0...UInt64.max) },
      sleep: { try await Task.sleep(for: $0) })
  }
}
