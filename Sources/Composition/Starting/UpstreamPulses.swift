import Gateway
import Logging
import Model
import Synchronization

/// What is known of the upstreams' health, which outlives a reload: an outage goes on, and its end is logged.
final class UpstreamPulses: Sendable {
  private struct Key: Hashable {
    let name: UpstreamName
    let url: String
  }

  private let known = Mutex<[Key: UpstreamPulse]>([:])

  /// Returns the pulses of the upstreams in service, in their order; those of others are forgotten.
  func pulses(of upstreams: [NamedUpstream], logger: Logger) -> [UpstreamPulse] {
    known.withLock { known in
      let keys = upstreams.map { Key(name: $0.name, url: $0.settings.url.map { "\($0)" } ?? "") }
      let found = keys.map { key in
        known[key]
          ?? UpstreamPulse(
            name: key.name == .sole ? nil : key.name, uptime: { SystemClock.uptime() },
            logger: logger)
      }
      known = Dictionary(zip(keys, found), uniquingKeysWith: { first, _ in first })
      return found
    }
  }
}
