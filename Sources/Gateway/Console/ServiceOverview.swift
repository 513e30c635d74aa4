package import Model

/// The state of the whole service, for operators.
package struct ServiceOverview: Sendable {
  /// The state at one moment.
  package struct Snapshot: Sendable {
    package let time: Timestamp
    package let started: Timestamp
    package let health: HealthReport
    /// Counts since the start.
    package let totals: MetricHistory.Counts
    /// Oldest first.
    package let points: [MetricHistory.Point]
    package let upstreams: [UpstreamStatus]
    private let gauges: [String: Double]

    fileprivate init(
      time: Timestamp, started: Timestamp, health: HealthReport, families: [MetricFamily],
      points: [MetricHistory.Point], upstreams: [UpstreamStatus]
    ) {
      self.time = time
      self.started = started
      self.health = health
      self.points = points
      self.upstreams = upstreams
      totals = MetricHistory.counts(families)
      gauges = families.reduce(into: [:]) { gauges, family in
        guard family.kind == .gauge else { return }
        for sample in family.samples {
          if case .number(let number) = sample.value { gauges[family.name, default: 0] += number }
        }
      }
    }

    /// The present value of a gauge, of all its series together; nil if the service does not have it.
    package func gauge(_ name: String) -> Int? { gauges[name].map { Int($0) } }
  }

  /// The numbers of one operation since the start.
  package struct OperationNumbers: Sendable {
    package let name: String
    /// By outcome, in alphabetical order.
    package let outcomes: [(name: String, count: Int)]
    /// Times to the end of a response; of requests by the operation's own path.
    package let durations: MetricFamily.Histogram?
    /// Times of requests to upstream.
    package let upstream: MetricFamily.Histogram?
  }

  private let history: MetricHistory
  private let families: @Sendable () -> [MetricFamily]
  private let health: HealthCheck
  private let upstreams: UpstreamOverview
  private let clock: WallClock
  private let started: Timestamp

  /// - Parameters:
  ///   - families: reads the metrics of the service.
  ///   - started: the start of the process, from which on the metrics count; a reload is none.
  package init(
    history: MetricHistory, families: @escaping @Sendable () -> [MetricFamily],
    health: HealthCheck, upstreams: UpstreamOverview, clock: WallClock, started: Timestamp
  ) {
    self.history = history
    self.families = families
    self.health = health
    self.upstreams = upstreams
    self.clock = clock
    self.started = started
  }

  /// Adds a step to the history; called every ``MetricHistory/step``.
  package func noteStep() { history.note(families(), at: clock.now()) }

  /// - Parameter time: the points after it are shown; nil shows all.
  package func snapshot(after time: Timestamp? = nil) async -> Snapshot {
    Snapshot(
      time: clock.now(), started: started, health: await health.report(), families: families(),
      points: history.points(after: time), upstreams: upstreams.statuses)
  }

  /// - Parameter operations: the names of operations, each with the pattern of its own path.
  package func numbers(
    of operations: [(name: String, route: String?)]
  ) -> [OperationNumbers] {
    let all = Dictionary(
      families().map { ($0.name, $0.samples) }, uniquingKeysWith: { first, _ in first })
    var outcomes: [String: [(name: String, count: Int)]] = [:]
    for sample in all["larder_cache_responses_total"] ?? [] {
      guard case .number(let number) = sample.value, let name = sample["operation"],
        let outcome = sample["outcome"]
      else { continue }
      outcomes[name, default: []].append((outcome, Int(number)))
    }
    let byRoute = Dictionary(
      grouping: all["larder_http_request_duration_seconds"] ?? [], by: { $0["route"] ?? "" })
    let byOperation = Dictionary(
      grouping: all["larder_upstream_request_duration_seconds"] ?? [],
      by: { $0["operation"] ?? "" })
    return operations.map { name, route in
      OperationNumbers(
        name: name, outcomes: (outcomes[name] ?? []).sorted { $0.name < $1.name },
        durations: route.flatMap { byRoute[$0] }.flatMap { .init(summing: $0) },
        upstream: byOperation[name].flatMap { .init(summing: $0) })
    }
  }
}
