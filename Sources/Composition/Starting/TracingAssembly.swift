import Gateway
import HTTPClient
import HTTPTypes
import Logging
import Traces
import Transport

/// The tracer, and the exporter of its spans, wired to an HTTP client of its own: a slow collector takes no
/// connection from upstream.
struct TracingAssembly: Sendable {
  /// `service.name` of OpenTelemetry.
  private static let serviceName = "larder"
  private static let tracesPath = "/v1/traces"
  /// The maximum time for the last spans at the end of the process.
  private static let endMax = Duration.milliseconds(500)

  /// Nil without tracing.
  let tracer: SpanTracer?
  private let exporter: TraceExporter?
  private let client: HTTPClient?

  init(
    _ settings: TracingSettings, group: EventLoopGroup, tls: ClientTLS, logger: Logger
  ) throws {
    guard let endpoint = settings.endpoint else {
      tracer = nil
      exporter = nil
      client = nil
      return
    }
    let meters = TraceMeters(clock: SystemClock.wall, logger: logger)
    let buffer = SpanBuffer { meters.noteDropped($0, .full) }
    var limits = HTTPClientSettings()
    limits.connectionsMax = 1
    // The exporter has its own pauses after failures.
    limits.sendAlways()
    let client = HTTPClient(
      group: group, settings: limits, tls: try tls.context(if: endpoint.scheme == "https"),
      random: { Double.random(in: 0..<1) })
    let send: TraceExporter.Send = { request, limit throws(HTTPClientError) in
      try await client.execute(request, within: limit)
    }
    exporter = TraceExporter(
      buffer,
      to: TraceExporter.Destination(
        url: Self.url(endpoint.http), headers: Self.fields(settings.headers)),
      resource: TraceResource(
        name: Self.serviceName, version: Version.text, instance: RandomName.make()),
      meters: meters, clock: SystemClock.wall, chance: { Double.random(in: 0..<1) },
      sleep: { try await Task.sleep(for: $0) }, send: send)
    self.client = client
    tracer = SpanTracer(
      ratio: SamplingRatio(settings.sample), buffer: buffer,
      random: { UInt64.random(in: 0...UInt64.max) })
  }

  func start() { exporter?.start() }

  /// Exports the last spans, and returns once no request to the collector is under way.
  func end() async {
    await exporter?.end(within: Self.endMax)
    await client?.close()
  }

  /// The address that settings name, with the path of the protocol if they name none.
  static func url(_ base: HTTPURL) -> HTTPURL {
    base.target == "/" ? HTTPURL(origin: base.origin, target: tracesPath) : base
  }

  private static func fields(_ headers: [String: Secret]) -> HTTPFields {
    var fields = HTTPFields()
    for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
      guard let name = HTTPField.Name(name) else { continue }
      fields.append(HTTPField(name: name, value: value.revealed))
    }
    return fields
  }
}
