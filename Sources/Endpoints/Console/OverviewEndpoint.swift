import Gateway
import HTTPServer
import LosslessJSON
import Model

/// `GET /v1/admin/overview`, its stream, and `GET /v1/admin/operations`: the numbers of the service.
struct OverviewEndpoint: Sendable {
  let context: EndpointContext
  let overview: ServiceOverview
  let operations: OperationDirectory
  let devices: DeviceRegistry
  let signal: CommitSignal
  let version: String

  func show(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      .json(OverviewDocument.bytes(await overview.snapshot(), version: version))
    }
  }

  func stream(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      return .eventStream(stallMax: context.streamStallMax) {
        [overview, devices, signal, version] in
        OverviewStream(overview: overview, caller: caller, devices: devices, signal: signal) {
          OverviewDocument.bytes($0, version: version)
        }
      }
    }
  }

  func listOperations(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let described = operations.descriptions
      let numbers = overview.numbers(
        of: described.map { ($0.name, $0.route.map { "/api\($0)" }) })
      let items = zip(described, numbers).map { OverviewDocument.value($0, $1) }
      let body: JSONValue = ["items": .array(items)]
      return .json(body.bytes)
    }
  }
}

/// The JSON of the overview. A number that is not known is absent.
enum OverviewDocument {
  static func bytes(_ snapshot: ServiceOverview.Snapshot, version: String) -> [UInt8] {
    var body: JSONValue = [
      "at": ConsolePage.time(snapshot.time), "version": .string(version),
      "startedAt": ConsolePage.time(snapshot.started),
      "uptimeSeconds": count(snapshot.started.elapsed(until: snapshot.time).wholeSeconds),
      "ready": .bool(snapshot.health.isReady),
      "store": .string(snapshot.health.store.rawValue),
      "draining": .bool(snapshot.health.isDraining),
      "operations": count(snapshot.health.operationCount),
      "totals": .object(members(of: snapshot.totals)),
      "responses": [
        "stepSeconds": count(MetricHistory.step.wholeSeconds),
        "points": .array(snapshot.points.map(value)),
      ],
      "upstreams": .array(snapshot.upstreams.map(UpstreamsEndpoint.value)),
    ]
    func add(_ member: String, _ gauges: [(name: String, metric: String)]) {
      let known = gauges.compactMap { name, metric in
        snapshot.gauge(metric).map { JSONMember(name, count($0)) }
      }
      body[member] = .object(known)
    }
    if let bytes = snapshot.gauge("process_resident_memory_bytes") {
      body["memoryBytes"] = count(bytes)
    }
    add(
      "streams",
      [
        ("connections", "larder_http_connections"), ("webSockets", "larder_http_websockets"),
        ("events", "larder_http_event_streams"), ("live", "larder_live_streams"),
        ("lists", "larder_lists"), ("subscriptions", "larder_upstream_subscriptions"),
        ("subscriptionClients", "larder_subscription_clients"),
      ])
    add(
      "queue",
      [
        ("pending", "larder_queue_pending"), ("parked", "larder_queue_parked"),
        ("oldestAgeSeconds", "larder_queue_oldest_age_seconds"),
      ])
    add(
      "database",
      [
        ("bytes", "larder_database_bytes"), ("walBytes", "larder_database_wal_bytes"),
        ("diskFreeBytes", "larder_disk_free_bytes"),
      ])
    return body.bytes
  }

  /// The numbers of one operation since the start.
  static func value(
    _ operation: OperationDescription, _ numbers: ServiceOverview.OperationNumbers
  ) -> JSONValue {
    var value: JSONValue = [
      "name": .string(operation.name), "kind": .string(operation.kind.rawValue),
    ]
    if let upstream = operation.upstream { value["upstream"] = .string(upstream) }
    value["responses"] = .object(numbers.outcomes.map { JSONMember($0.name, count($0.count)) })
    if let durations = numbers.durations {
      value["requests"] = count(durations.count)
      value["p50Ms"] = milliseconds(durations.quantile(0.5))
      value["p99Ms"] = milliseconds(durations.quantile(0.99))
    }
    if let upstream = numbers.upstream {
      value["upstreamTime"] = [
        "calls": count(upstream.count), "p50Ms": milliseconds(upstream.quantile(0.5)),
        "p99Ms": milliseconds(upstream.quantile(0.99)),
      ]
    }
    return value
  }

  private static func value(_ point: MetricHistory.Point) -> JSONValue {
    .object(
      [JSONMember("at", ConsolePage.time(point.time))] + members(of: point.counts) + [
        JSONMember("p50Ms", milliseconds(point.median)),
        JSONMember("p99Ms", milliseconds(point.p99)),
      ])
  }

  private static func members(of counts: MetricHistory.Counts) -> [JSONMember] {
    [
      JSONMember("requests", count(counts.requests)), JSONMember("errors", count(counts.errors)),
      JSONMember("hit", count(counts.hit)), JSONMember("stale", count(counts.stale)),
      JSONMember("miss", count(counts.miss)),
    ]
  }

  /// Seconds in milliseconds, to a microsecond; null if they are not known.
  private static func milliseconds(_ seconds: Double?) -> JSONValue {
    guard let seconds, let number = JSONNumber((seconds * 1e6).rounded() / 1e3) else {
      return .null
    }
    return .number(number)
  }

  private static func count(_ number: some FixedWidthInteger) -> JSONValue {
    .number(JSONNumber(number))
  }
}
