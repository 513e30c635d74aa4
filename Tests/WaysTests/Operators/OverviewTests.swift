import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// The numbers of the service, for operators.
  struct OverviewTests {
    private static let viewer = ("Authorization", "Bearer \(RunningLarder.viewerToken)")

    private static func overview(_ larder: RunningLarder) async throws -> JSONValue {
      let answer = try await larder.get("/v1/admin/overview", viewer)
      #expect(answer.status == 200, "\(answer.text)")
      return try JSONValue(parsing: answer.body)
    }

    @Test("The overview counts clients' requests by what the cache did, and not its own")
    func countsRequests() async throws {
      let larder = try await RunningLarder.start()
      let before = try await Self.overview(larder)
      for _ in 0..<3 { #expect(try await larder.get("/api/films/f1").status == 200) }
      let after = try await eventually {
        try await Self.overview(larder)
      } until: {
        ($0["totals"]?["requests"]?.int64 ?? 0) - (before["totals"]?["requests"]?.int64 ?? 0) >= 3
      }
      func grown(_ name: String) -> Int64 {
        (after["totals"]?[name]?.int64 ?? 0) - (before["totals"]?[name]?.int64 ?? 0)
      }
      #expect(grown("requests") == 3 && grown("errors") == 0)
      #expect(grown("hit") + grown("miss") + grown("stale") == 3 && grown("miss") >= 1)
      #expect(after["ready"] == true && after["draining"] == false)
      #expect(after["store"] == "writable")
      #expect(after["memoryBytes"]?.int64 ?? 0 > 1 << 20)
      #expect(after["database"]?["bytes"]?.int64 ?? 0 >= 4_096)
      #expect(after["streams"]?["connections"]?.int64 ?? 0 >= 1)
      #expect(after["upstreams"]?.array?.count == 1)
      #expect(after["responses"]?["stepSeconds"] == 10)
      #expect(after["startedAt"]?.int64 ?? 0 <= after["at"]?.int64 ?? 0)
      await larder.stop()
    }

    @Test("The numbers of an operation are its own")
    func countsOperations() async throws {
      let larder = try await RunningLarder.start()
      for _ in 0..<4 { _ = try await larder.get("/api/films/f1") }
      func film() async throws -> JSONValue? {
        let answer = try await larder.get("/v1/admin/operations", Self.viewer)
        #expect(answer.status == 200, "\(answer.text)")
        return try JSONValue(parsing: answer.body)["items"]?.array?.first { $0["name"] == "Film" }
      }
      let found = try await eventually(film) { ($0?["requests"]?.int64 ?? 0) >= 4 }
      let item = try #require(found)
      #expect(item["kind"] == "query")
      let outcomes = (item["responses"]?.members ?? []).compactMap { $0.value.int64 }
      #expect(outcomes.reduce(0, +) >= 4 && item["responses"]?["miss"]?.int64 ?? 0 >= 1)
      #expect(Double(item["p50Ms"]?.text ?? "") ?? 0 > 0, "\(item.text)")
      #expect(item["upstreamTime"]?["calls"]?.int64 ?? 0 >= 1)
      await larder.stop()
    }

    @Test("The stream begins with the overview, and ends with the session")
    func streams() async throws {
      let larder = try await RunningLarder.start()
      let session = try await ConsoleSession.open(larder, token: RunningLarder.viewerToken)
      let stream = try await EventClient.open(
        port: larder.port, "/v1/admin/overview/stream", headers: [session.cookie])
      #expect(stream.status == 200 && stream.contentType == "text/event-stream")
      let first = try #require(try await stream.nextEvent())
      #expect(first.event == "overview")
      #expect(try JSONValue(parsing: Array(first.data.utf8))["ready"] == true)
      let out = try await larder.request("DELETE", "/v1/admin/session", headers: session.fields)
      #expect(out.status == 204)
      while let event = try await stream.nextEvent() { #expect(event.event == "overview") }
      await larder.stop()
    }
  }
}
