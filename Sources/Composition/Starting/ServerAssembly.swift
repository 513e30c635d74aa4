import Gateway
import HTTPServer
import HTTPWire
import Logging
import Transport

/// The HTTP server as settings ask for it.
enum ServerAssembly {
  static func configuration(
    _ settings: Settings, tls: TLSServerContext?, health: HealthCheck, logger: Logger
  ) -> HTTPServerConfiguration {
    var drain = HTTPServerConfiguration.Drain()
    drain.notReady = { health.startDraining() }
    drain.delay = settings.drain.delay
    drain.deadline = settings.drain.deadline
    return HTTPServerConfiguration(
      listeners: settings.listen.map { .init(Endpoint($0), tls: tls) },
      limits: limits(settings.limits), drain: drain,
      accessLog: accessLog(settings.log, label: logger.label),
      makeSeed: { UInt64.random(in: 0...UInt64.max) })
  }

  /// Requests are told at `info`, and go to the same stream as everything else.
  private static func accessLog(_ settings: LogSettings, label: String) -> LineAccessLog? {
    guard settings.level <= .info else { return nil }
    return LineAccessLog(label: label, isJSON: settings.format == .json) {
      StandardStreams.error($0)
    }
  }

  private static func limits(_ settings: LimitsSettings) -> ServerLimits {
    var limits = ServerLimits()
    limits.connection.head.headBytesMax = settings.headBytesMax
    limits.connection.head.fieldsMax = settings.fieldsMax
    limits.connection.head.fieldBytesMax = settings.fieldBytesMax
    limits.connection.head.startLineBytesMax = settings.targetBytesMax
    limits.connection.requestsMax = settings.requestsPerConnectionMax
    limits.bodyBytesMax = settings.bodyBytesMax
    limits.handshakeDeadline = settings.handshakeDeadline
    limits.headDeadline = settings.headDeadline
    limits.idleDeadline = settings.keepAlive
    limits.transferStallMax = settings.stall
    limits.connectionAgeMax = settings.connectionAgeMax
    limits.connectionsPerAddressMax = settings.connectionsPerAddressMax
    if let connectionsMax = settings.connectionsMax { limits.connectionsMax = connectionsMax }
    return limits
  }
}

extension Endpoint {
  init(_ address: ListenAddress) {
    switch address {
    case .tcp(let host, let port): self = .host(host ?? "::", port: port)
    case .unix(let path): self = .unix(path: path)
    }
  }
}

extension LogSettings.Level {
  /// In the order of swift-log: the lower tells more.
  static func <= (left: Self, right: Self) -> Bool {
    guard let left = allCases.firstIndex(of: left), let right = allCases.firstIndex(of: right)
    else { return false }
    return left <= right
  }
}
