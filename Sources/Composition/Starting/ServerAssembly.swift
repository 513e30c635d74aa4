import Endpoints
import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Logging
import Traces
import Transport

/// The configuration of the HTTP server, made from settings.
enum ServerAssembly {
  static func configuration(
    _ settings: Settings, tls: TLSServerContext?, deployment: Deployment,
    tracer: SpanTracer?, nodes: NodeJudge?, logThreshold: LogThreshold, logSink: LineSink?,
    logger: Logger,
    notReady: @escaping @Sendable () -> Void
  ) -> HTTPServerConfiguration {
    var drain = HTTPServerConfiguration.Drain()
    drain.notReady = notReady
    drain.delay = settings.drain.delay
    drain.handshakes = settings.drain.handshakes
    drain.deadline = settings.drain.deadline
    var limits = limits(settings.limits)
    limits.drainIdleDeadline = settings.drain.idle
    var configuration = HTTPServerConfiguration(
      listeners: zip(
        settings.listen + settings.s3.served + settings.metrics.listen,
        handlers(of: deployment, s3Count: settings.s3.served.count)
      ).map { .init(Endpoint($0), tls: tls, handler: $1) },
      limits: limits, drain: drain,
      accessLog: accessLog(
        settings.log, label: logger.label, threshold: logThreshold,
        sink: logSink ?? ProcessLogging.sink(settings: settings.log)),
      makeSeed: { UInt64.random(in: 0...UInt64.max) })
    let trusted = settings.trustedProxies
    if !trusted.isEmpty {
      configuration.proxies = TrustedProxies { peer in
        trusted.contains { $0.contains(peer) }
      }
    }
    configuration.tracer = tracer
    configuration.nodes = nodes
    configuration.isShared = { SharedAddresses.contain($0) }
    configuration.rateLimit = rateLimit(settings.limits)
    // Liveness needs nothing that a reload closes.
    configuration.isAnsweredAlways = { $0.path.elementsEqual("/healthz".utf8) }
    if tls != nil { configuration.strictTransportAge = settings.tls.strictTransportAge }
    return configuration
  }

  /// The handlers of the listeners: of the main addresses, of those of S3, and of those of the metrics.
  ///
  /// - Parameter s3Count: the number of addresses of S3, which a reload can switch off but not close.
  static func handlers(of deployment: Deployment, s3Count: Int) -> [any RequestHandler] {
    let settings = deployment.workspace.settings
    let s3: any RequestHandler = deployment.handler.s3Root ?? NothingServed()
    return settings.listen.map { _ in deployment.served }
      + (0..<s3Count).map { _ in s3 }
      + settings.metrics.listen.map { _ in deployment.metricsHandler }
  }

  private static func rateLimit(_ settings: LimitsSettings) -> RateLimit? {
    settings.rateMax.map { requestsMax in
      // Health checks are frequent, and a 429 would report the service as unhealthy.
      RateLimit(requestsMax: requestsMax, window: settings.rateWindow) { head in
        head.path.elementsEqual("/healthz".utf8) || head.path.elementsEqual("/readyz".utf8)
      }
    }
  }

  /// Requests are logged at `info`, to the same stream as everything else.
  private static func accessLog(
    _ settings: LogSettings, label: String, threshold: LogThreshold, sink: LineSink
  ) -> LineAccessLog {
    LineAccessLog(
      label: label, isJSON: settings.format == .json, isOn: { threshold.level <= .info },
      sink: sink)
  }

  static func limits(_ settings: LimitsSettings) -> ServerLimits {
    var limits = ServerLimits()
    limits.connection = connection(settings)
    limits.bodyBytesMax = settings.bodyBytesMax
    limits.decodedBytesMax = settings.decompressedBytesMax
    limits.decodingRatioMax = settings.decompressionRatioMax
    limits.handshakeDeadline = settings.handshakeDeadline
    limits.headDeadline = settings.headDeadline
    limits.idleDeadline = settings.keepAlive
    limits.transferBytesPerSecondMin = settings.transferBytesPerSecondMin
    limits.transferGrace = settings.transferGrace
    limits.transferStallMax = settings.stall
    limits.drainPauseMax = settings.unwantedBodyPauseMax
    limits.drainDeadline = settings.unwantedBodyDeadline
    limits.readAheadBytesMax = settings.readAheadBytesMax
    limits.lingerDeadline = settings.lingerDeadline
    limits.connectionAgeMax = settings.connectionAgeMax
    limits.connectionsPerAddressMax = settings.connectionsPerAddressMax
    limits.retryAfterSeconds = settings.retryAfterSeconds
    limits.backlog = settings.backlog
    // Never more than there are descriptors for: without a free one, Dispatch ends the process when it
    // examines its threads. `connectionsMax` is read in any case, because that raises the limit.
    limits.connectionsMax = min(connectionsMax, settings.connectionsMax ?? .max)
    return limits
  }

  /// The limit on descriptors, minus those for files, the store and upstream.
  private static var connectionsMax: Int {
    max(descriptorsKept, DescriptorLimit.raise() - descriptorsKept)
  }

  private static let descriptorsKept = 64

  private static func connection(_ settings: LimitsSettings) -> ServerConnectionLimits {
    var limits = ServerConnectionLimits()
    limits.head.headBytesMax = settings.headBytesMax
    limits.head.fieldsMax = settings.fieldsMax
    limits.head.fieldBytesMax = settings.fieldBytesMax
    limits.head.startLineBytesMax = settings.targetBytesMax
    limits.head.methodBytesMax = settings.methodBytesMax
    limits.head.leadingLinesMax = settings.leadingLinesMax
    limits.body.chunkSizeDigitsMax = settings.chunkSizeDigitsMax
    limits.body.chunkExtensionBytesMax = settings.chunkExtensionBytesMax
    limits.body.chunkOverheadBytesMax = settings.chunkOverheadBytesMax
    limits.body.trailerBytesMax = settings.trailerBytesMax
    limits.body.trailerFieldsMax = settings.trailerFieldsMax
    limits.drainBytesMax = settings.unwantedBodyBytesMax
    limits.lingerBytesMax = settings.lingerBytesMax
    limits.requestsMax = settings.requestsPerConnectionMax
    return limits
  }
}

/// The handler of addresses whose part of the service a reload has switched off.
private struct NothingServed: RequestHandler {
  func respond(to request: ServerRequest) async -> ServerResponse {
    ServerResponse(status: .notFound)
  }
}

extension S3DialectSettings {
  /// The addresses that a start listens on.
  var served: [ListenAddress] { isOn ? listen : [] }
}

extension Endpoint {
  init(_ address: ListenAddress) {
    switch address {
    case .tcp(let host, let port): self = .host(host ?? "::", port: port)
    case .unix(let path): self = .unix(path: path)
    }
  }
}

/// Addresses that can stand for many clients although they are not configured as proxies: those of
/// this machine, and of private networks, where the address translation of a container or cluster
/// replaces the client's address with its own.
enum SharedAddresses {
  /// RFC 1122 section 3.2.1.3, RFC 1918, RFC 3927, RFC 6598; RFC 4291 section 2.5.3 and 2.5.6,
  /// RFC 4193.
  private static let blocks: [AddressBlock] = [
    "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16",
    "100.64.0.0/10", "::1/128", "fe80::/10", "fc00::/7",
  ].compactMap { try? AddressBlock(parsing: $0) }

  static func contain(_ address: SocketAddress) -> Bool {
    if case .unix = address { return true }
    return blocks.contains { $0.contains(address) }
  }
}

/// The URL form of a listening socket's address.
enum ListeningAddress {
  static func text(_ address: SocketAddress, scheme: String) -> String {
    guard let port = address.port else { return "unix:\(address.host)" }
    let host = address.host
    return "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
  }
}
