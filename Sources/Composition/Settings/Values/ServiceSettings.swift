/// Settings of a start.
package struct StartSettings: Sendable {
  /// How long to wait for a data folder that another process holds, for example while it drains.
  package var lockWait = Duration.seconds(15)
  /// Whether to start with a different key than the one that sealed the secrets in the database.
  package var otherKey = OtherKey.refuse

  /// Whether to start on a full or read-only disk, and serve only reads until it is writable.
  package var degraded = Degraded.allow

  package enum Degraded: String, CaseIterable, Sendable {
    case allow
    case refuse
  }

  package enum OtherKey: String, CaseIterable, Sendable {
    case refuse
    /// Discards those secrets.
    case accept
  }
}

/// Certificates of the listening addresses; none = plain HTTP.
package struct TLSSettings: Sendable {
  /// Files of a further certificate; both or neither.
  package struct Certificate: Sendable {
    package var certificateFile: String?
    package var keyFile: String?
  }

  /// The first certificate, also for clients that request no name; both files or neither.
  package var certificateFile: String?
  package var keyFile: String?
  /// Further certificates by the operator's name for them, used in the order of these names.
  package var certificates: [String: Certificate] = [:]
  /// The `max-age` of `Strict-Transport-Security`; nil = not sent.
  package var strictTransportAge: Duration?
}

/// Settings of the sync queues.
package struct QueueSettings: Sendable {
  package enum OnLogout: String, CaseIterable, Sendable {
    case drain
    case drop
    case park
  }

  package var debounce = Duration.zero
  /// Maximum unrelated lazy mutations of one device sent concurrently.
  package var parallelMax = 1
  /// Maximum unfinished mutations of one device.
  package var itemsMax = 1_000
  package var forceDeadline = Duration.seconds(10)
  package var probeInterval = Duration.seconds(5)
  package var onLogout = OnLogout.drain
  /// Error codes of upstream after which the same mutation is retried.
  package var transientCodes: [String] = []
}

/// Settings of devices: who can register one, its storage quota, and when an unused one is removed.
package struct DevicesSettings: Sendable {
  package enum Register: String, CaseIterable, Sendable {
    case open
    case user
    case admin
  }

  package var isOn = true
  package var register = Register.open
  package var registrationsPerMinute = 30
  /// Storage quota of one device (own rows and mutations), and of one user (own rows).
  package var ownerBytesMax = 64 << 20
  /// Storage quota of all devices without a user together.
  package var unboundBytesMax = 1 << 30
  package var expiry = Duration.seconds(180 * 86_400)
}

/// Trust in the wall clock.
package struct ClockSettings: Sendable {
  /// How long a jump of the clock must last before data expires by it.
  package var trust = Duration.seconds(3_600)
}

/// Settings of a graceful shutdown: the service is not ready at once, closes its listeners after
/// `delay`, and ends at the latest `deadline` after that.
package struct DrainSettings: Sendable {
  package var delay = Duration.zero
  package var deadline = Duration.seconds(8)
  /// Maximum time for handshakes that are under way when listening ends.
  package var handshakes = Duration.milliseconds(300)
  /// How long an idle connection stays open during the drain, for a request already sent.
  package var idle = Duration.seconds(1)
}

/// Level and format of the log.
package struct LogSettings: Sendable {
  /// The levels of swift-log, by its names.
  package enum Level: String, CaseIterable, Sendable {
    case trace
    case debug
    case info
    case notice
    case warning
    case error
    case critical
  }

  package enum Format: String, CaseIterable, Sendable {
    case text
    case json
  }

  /// The form in which ids of users and devices are logged.
  package enum IDs: String, CaseIterable, Sendable {
    case plain
    case hashed
    case off
  }

  package var level = Level.info
  package var format = Format.text
  package var ids = IDs.hashed
}

/// Export of traces to an OpenTelemetry collector.
package struct TracingSettings: Sendable {
  /// Nil = tracing is off.
  package var endpoint: ServiceURL?
  /// The share of traces that begin here and are recorded, from 0 to 1.
  package var sample = 0.01
  /// Sent to the collector with each export.
  package var headers: [String: Secret] = [:]
}

/// Access to the metrics, and their addresses.
package struct MetricsSettings: Sendable {
  package enum Access: String, CaseIterable, Sendable {
    case open
    case admin
  }

  package var access = Access.open
  /// A token of its own for the metrics; with it they are not open.
  package var token: Secret?
  /// Addresses that serve only metrics; if empty, the service's own addresses serve them.
  package var listen: [ListenAddress] = []
}
