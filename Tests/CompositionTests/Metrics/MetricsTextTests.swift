import Composition
import CoreMetrics
import Gateway
import Testing

struct MetricsTextTests {
  private static let families = [
    MetricFamily(
      "larder_build_info", .info, [.init([("version", "1.0")], 1)]),
    MetricFamily(
      "larder_cache_responses_total", .counter,
      [.init([("outcome", "hit"), ("operation", "a\"b\\c\r\nd")], 3)]),
    MetricFamily(
      "larder_http_request_duration_seconds", .histogram,
      [
        .init(
          labels: [.init("route", "/a/{id}")],
          value: .histogram(.init(bounds: [0.5, 1], counts: [2, 0, 1], sum: 4.25)))
      ]),
    MetricFamily("larder_queue_oldest_age_seconds", .gauge, [.init([], 1.5)]),
  ]

  @Test("The Prometheus text format has a help text, a type and all samples of each family")
  func prometheus() {
    #expect(
      MetricsText.text(Self.families, as: .prometheus) == #"""
        # HELP larder_build_info The version of Larder; the value is 1.
        # TYPE larder_build_info gauge
        larder_build_info{version="1.0"} 1
        # HELP larder_cache_responses_total Responses to reads of operations, by how the cache was used.
        # TYPE larder_cache_responses_total counter
        larder_cache_responses_total{operation="a\"b\\c\#r\nd",outcome="hit"} 3
        # HELP larder_http_request_duration_seconds Time from the request to the end of its response; of event streams, to their start.
        # TYPE larder_http_request_duration_seconds histogram
        larder_http_request_duration_seconds_bucket{route="/a/{id}",le="0.5"} 2
        larder_http_request_duration_seconds_bucket{route="/a/{id}",le="1.0"} 2
        larder_http_request_duration_seconds_bucket{route="/a/{id}",le="+Inf"} 3
        larder_http_request_duration_seconds_sum{route="/a/{id}"} 4.25
        larder_http_request_duration_seconds_count{route="/a/{id}"} 3
        # HELP larder_queue_oldest_age_seconds Age of the oldest mutation that is not parked.
        # TYPE larder_queue_oldest_age_seconds gauge
        larder_queue_oldest_age_seconds 1.5

        """#)
  }

  @Test("OpenMetrics has names without suffixes, units, and an end")
  func openMetrics() {
    let lines = MetricsText.text(Self.families, as: .openMetrics).split(separator: "\n")
    #expect(
      lines.filter { $0.hasPrefix("# TYPE") || $0.hasPrefix("# UNIT") || $0 == "# EOF" } == [
        "# TYPE larder_build info", "# TYPE larder_cache_responses counter",
        "# TYPE larder_http_request_duration_seconds histogram",
        "# UNIT larder_http_request_duration_seconds seconds",
        "# TYPE larder_queue_oldest_age_seconds gauge",
        "# UNIT larder_queue_oldest_age_seconds seconds", "# EOF",
      ])
    #expect(lines.last == "# EOF")
    #expect(lines.contains { $0.hasPrefix("larder_cache_responses_total{") })
    #expect(lines.contains(#"larder_build_info{version="1.0"} 1"#))
  }

  @Test("A registry shows its own families, those of its base and those that are collected")
  func registriesAreJoined() throws {
    let base = PrometheusRegistry()
    base.makeCounter(label: "larder.polls", dimensions: [("operation", "A")]).increment(by: 2)
    let timer = base.makeTimer(label: "larder.subscription.lag", dimensions: [])
    timer.recordNanoseconds(2_000_000)
    let registry = PrometheusRegistry(base: base)
    registry.collect {
      [
        MetricFamily("larder_polls_total", .counter, [.init([("operation", "B")], 5)]),
        MetricFamily("larder_lists", .gauge, []),
      ]
    }
    let families = registry.families(showsHosts: false)
    #expect(families.map(\.name) == ["larder_polls_total", "larder_subscription_lag_seconds"])
    #expect(families[0].samples.map(\.value) == [.number(2), .number(5)])
    #expect(families[0].samples.map { $0["operation"] } == ["A", "B"])
    guard case .histogram(let lag) = families[1].samples.first?.value else {
      Issue.record("not a histogram")
      return
    }
    #expect(lag.count == 1 && lag.sum == 0.002)
    #expect(lag.bounds.count + 1 == lag.counts.count)
    #expect(base.families(showsHosts: false).map(\.name) == families.map(\.name))
  }
}
