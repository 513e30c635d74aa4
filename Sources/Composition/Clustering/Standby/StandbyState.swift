import Gateway
import Model
import Standby
import Synchronization

/// What a standby says of itself while it follows.
final class StandbyState: Sendable {
  struct Values: Sendable {
    /// What it does, for people.
    var phase = "starting"
    var position: Int64 = 0
    /// The machine that holds the lease.
    var primary: String?
    var epoch: Int64 = 0
    /// When it had last applied everything that was there, by a monotonic clock.
    var caughtUp: Duration?
  }

  private let values = Mutex(Values())
  private let started = SystemClock.uptime()

  func set(_ change: (inout Values) -> Void) { values.withLock { change(&$0) } }

  var present: Values { values.withLock { $0 } }

  /// How long it has not been at the end of the log.
  var lag: Duration {
    let values = present
    let lag = SystemClock.uptime() - (values.caughtUp ?? started)
    // It looks at intervals.
    return lag
  }
}

extension ServiceMetrics {
  /// The metrics of a standby that follows.
  static func families(of state: StandbyState) -> [MetricFamily] {
    let values = state.present
    return [
      .gauge("larder_standby_is_primary", 0),
      .gauge("larder_standby_epoch", Int(values.epoch)),
      .gauge("larder_standby_position", Int(values.position)),
      MetricFamily("larder_standby_lag_seconds", .gauge, [.init(state.lag / .seconds(1))]),
    ]
  }

  /// The metrics of a primary.
  static func families(of measures: LogSender.Measures) -> [MetricFamily] {
    [
      .gauge("larder_standby_is_primary", 1),
      .gauge("larder_standby_epoch", Int(measures.epoch)),
      .gauge("larder_standby_position", Int(measures.sentPosition)),
      MetricFamily(
        "larder_standby_unsent_seconds", .gauge, [.init(measures.unsentAge / .seconds(1))]),
      .gauge("larder_standby_unsent_bytes", measures.unsentBytes),
      .gauge("larder_standby_takes_writes", measures.isTaking ? 1 : 0),
    ]
  }
}
