import Foundation
import TestSupport
import Testing

extension Ways {
  struct MetricsTests {
    @Test("Metrics are open to every caller unless settings restrict them to the operator")
    func accessIsASetting() async throws {
      for (settings, status) in [("", 200), ("metrics: {access: admin}", 401)] {
        let larder = try await RunningLarder.start(settings: settings)
        #expect(try await larder.get("/metrics").status == status)
        let user = ("Authorization", "Bearer user-ada")
        #expect(try await larder.get("/metrics", user).status == status)
        let operators = try await larder.get("/metrics", OperatingTests.admin)
        #expect(operators.status == 200)
        #expect(operators["content-type"]?.hasPrefix("text/plain; version=0.0.4") == true)
        await larder.stop()
      }
    }

    @Test("Metrics with their own address are served there and nowhere else")
    func metricsAddress() async throws {
      let larder = try await RunningLarder.start(settings: "metrics: {listen: [127.0.0.1:0]}")
      #expect(try await larder.get("/metrics").status == 404)
      #expect(!larder.routes.contains("GET /metrics"))
      let told = larder.log.lines.first { $0.message == "metrics are served" }
      let address = try #require(told?.metadata["address"].flatMap { URL(string: "\($0)") })
      let port = try #require(address.port)
      let (metrics, other) = try await onOwnThread {
        let client = try RawClient(port: port)
        return (try client.request("GET", "/metrics"), try client.request("GET", "/healthz"))
      }
      #expect(metrics.status == 200 && other.status == 404)
      await larder.stop()
    }
  }
}
