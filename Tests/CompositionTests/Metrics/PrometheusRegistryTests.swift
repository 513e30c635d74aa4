import CoreMetrics
import Testing

@testable import Composition

struct PrometheusRegistryTests {
  @Test("Only the operator sees the hosts that the service calls, and sums are right without them")
  func hostsAreHidden() {
    let registry = PrometheusRegistry()
    for (origin, count) in [("https://api.internal:8443", 2), ("https://other.internal", 3)] {
      let counter = registry.makeCounter(
        label: "client_requests", dimensions: [("origin", origin), ("status", "200")])
      counter.increment(by: Int64(count))
    }
    let shown = MetricsText.text(registry.families(showsHosts: true), as: .prometheus)
    #expect(shown.contains("api.internal") && shown.contains("other.internal"))
    let open = MetricsText.text(registry.families(showsHosts: false), as: .prometheus)
    #expect(!open.contains("internal") && !open.contains("origin"))
    let lines = open.split(separator: "\n").filter { $0.hasPrefix("client_requests") }
    #expect(lines.count == 1 && lines.first?.hasSuffix(" 5") == true, "\(lines)")
    #expect(lines.first?.contains(#"status="200""#) == true)
  }
}
