import Model
import Testing

@testable import Gateway

struct MetricHistoryTests {
  private static let bounds = [0.1, 0.2, 0.4]

  private static func time(_ seconds: Int64) -> Timestamp {
    Timestamp(milliseconds: seconds * 1_000)
  }

  private static func requests(
    _ route: String, _ status: String, _ counts: [UInt64]
  ) -> MetricFamily.Sample {
    MetricFamily.Sample(
      labels: [.init("route", route), .init("method", "GET"), .init("status", status)],
      value: .histogram(.init(bounds: bounds, counts: counts, sum: 0)))
  }

  private static func outcome(_ name: String, _ count: Double) -> MetricFamily.Sample {
    MetricFamily.Sample([("operation", "Film"), ("outcome", name)], count)
  }

  private static func families(
    _ requests: [MetricFamily.Sample], _ outcomes: [MetricFamily.Sample] = []
  ) -> [MetricFamily] {
    [
      MetricFamily("larder_cache_responses_total", .counter, outcomes),
      MetricFamily("larder_http_request_duration_seconds", .histogram, requests),
    ]
  }

  @Test("A point has the counts of its step, and their quantiles")
  func countsSteps() throws {
    let history = MetricHistory()
    history.note(
      Self.families(
        [Self.requests("/api/films", "200", [10, 0, 0, 0])],
        [Self.outcome("hit", 8), Self.outcome("miss", 2)]), at: Self.time(10))
    history.note(
      Self.families(
        [
          Self.requests("/api/films", "200", [10, 98, 0, 0]),
          Self.requests("/api/films", "503", [0, 0, 2, 0]),
        ],
        [
          Self.outcome("hit", 9), Self.outcome("not_modified", 1), Self.outcome("miss", 2),
          Self.outcome("collapsed", 3), Self.outcome("stale_if_error", 4),
          Self.outcome("stale_while_revalidate", 5),
        ]), at: Self.time(20))
    let points = history.points()
    #expect(points.map(\.time) == [Self.time(10), Self.time(20)])
    #expect(
      points[0].counts == MetricHistory.Counts(requests: 10, errors: 0, hit: 8, stale: 0, miss: 2))
    #expect(
      points[1].counts == MetricHistory.Counts(requests: 100, errors: 2, hit: 2, stale: 9, miss: 3))
    let median = try #require(points[1].median)
    #expect(median > 0.1 && median < 0.2)
    let p99 = try #require(points[1].p99)
    #expect(p99 > 0.2 && p99 <= 0.4)
    #expect(history.points(after: Self.time(10)).count == 1)
  }

  @Test("A step without a request has no quantile, and one hour of steps is kept")
  func boundsTheHistory() throws {
    let history = MetricHistory()
    for second in 0..<(MetricHistory.pointsMax + 5) {
      history.note(
        Self.families([Self.requests("/api/films", "200", [1, 0, 0, 0])]),
        at: Self.time(Int64(second)))
    }
    let points = history.points()
    #expect(points.count == MetricHistory.pointsMax && points.first?.time == Self.time(5))
    let last = try #require(points.last)
    #expect(last.counts.requests == 0 && last.median == nil && last.p99 == nil)
  }

  @Test("Operators, health checks and readers of metrics do not count")
  func leavesOutOwnRequests() {
    let counts = MetricHistory.counts(
      Self.families(
        ["/v1/admin/overview", "/healthz", "/readyz", "/metrics", "/v1/changes"].map {
          Self.requests($0, "500", [1, 0, 0, 0])
        }))
    #expect(counts.requests == 1 && counts.errors == 1)
    #expect(MetricHistory.counts([]) == MetricHistory.Counts())
  }

  @Test(
    "Quantiles are estimated as Prometheus does",
    arguments: [
      ([4, 0, 0, 0], 0.5, 0.05), ([0, 4, 0, 0], 0.5, 0.15), ([1, 1, 1, 1], 1, 0.4),
      ([0, 0, 0, 4], 0.5, 0.4), ([2, 0, 2, 0], 0.75, 0.3),
    ] as [([UInt64], Double, Double)])
  func estimatesQuantiles(counts: [UInt64], part: Double, expected: Double) throws {
    let histogram = MetricFamily.Histogram(bounds: Self.bounds, counts: counts, sum: 0)
    let value = try #require(histogram.quantile(part))
    #expect((value - expected).magnitude < 1e-9, "\(value)")
    #expect(
      MetricFamily.Histogram(bounds: Self.bounds, counts: [0, 0, 0, 0], sum: 0).quantile(part)
        == nil)
  }
}
