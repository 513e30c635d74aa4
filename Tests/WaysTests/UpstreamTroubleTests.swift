import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Upstream failures: a specific status, or the last good response if the policy allows it.
  struct UpstreamTroubleTests {
    static let modes: [(FailMode, Int)] = [
      (.refuse, 503), (.hang, 504), (.status(500), 502), (.status(503), 503), (.html, 502),
      (.brokenJSON, 502), (.halfBody, 502), (.status(401), 401),
      (.status(403), 403),
    ]

    @Test("Without a stored response an upstream failure has a specific status", arguments: modes)
    func failureWithoutAStoredResponse(mode: FailMode, status: Int) async throws {
      let larder = try await RunningLarder.start(
        upstreamTimeout: mode == .hang ? "3s" : "20s")
      try await larder.demo.change { $0.fail = mode }
      let answer = try await larder.get("/api/films/f1")
      #expect(answer.status == status, "\(answer.text)")
      #expect(answer["content-type"] == "application/problem+json")
      #expect(answer["cache-control"] == "no-store")
      let retry = try JSONValue(parsing: answer.body)["retry"]?.string
      #expect(retry == (status == 401 || status == 403 ? "never" : "after"))
      #expect(status != 503 || answer["retry-after"] != nil)
      try await larder.demo.change { $0.fail = .off }
      // The failure was not stored: once its short caching ends the response comes from upstream.
      let good = try await eventually {
        try await larder.get("/api/films/f1")
      } until: {
        $0.status == 200
      }
      #expect(good.cacheStatus == "fwd=uri-miss; stored")
      await larder.stop()
    }

    @Test(
      "The last good response is served during an upstream outage",
      arguments: modes.filter { $0.1 >= 500 }.map(\.0))
    func lastGoodResponseIsServed(mode: FailMode) async throws {
      let larder = try await RunningLarder.start(
        upstreamTimeout: mode == .hang ? "3s" : "20s")
      let good = try await larder.get("/api/films/f1")
      try await larder.demo.change { $0.fail = mode }
      let stale = try await larder.get("/api/films/f1", ("Cache-Control", "no-cache"))
      #expect(stale.status == 200)
      #expect(stale.cacheStatus?.hasSuffix("detail=stale-if-error") == true)
      #expect(stale.body == good.body)
      await larder.stop()
    }

    @Test("An oversize upstream response is refused")
    func oversizeResponseIsRefused() async throws {
      let larder = try await RunningLarder.start()
      try await larder.demo.change {
        $0.fail = .oversize
        $0.oversizeBytes = 20 << 20
      }
      let answer = try await larder.get("/api/films/f1")
      #expect(answer.status == 502)
      #expect(answer.text.contains("upstream_too_large"))
      await larder.stop()
    }

    @Test("After a restart the store serves without upstream")
    func storeServesAfterARestart() async throws {
      let larder = try await RunningLarder.start()
      let good = try await larder.get("/api/films/f1")
      await larder.stopService()
      try await larder.demo.change { $0.fail = .refuse }
      try await larder.startService()
      let fresh = try await larder.get("/api/films/f1")
      #expect(fresh.status == 200)
      #expect(fresh.cacheStatus?.hasPrefix("hit; ttl=") == true)
      #expect(fresh["etag"] == good["etag"])
      #expect(fresh.body == good.body)
      let stale = try await larder.get("/api/films/f1", ("Cache-Control", "no-cache"))
      #expect(stale.cacheStatus?.hasSuffix("detail=stale-if-error") == true)
      let other = try await larder.get("/api/films/f2")
      #expect(other.status == 503)
      await larder.stop()
    }

    @Test("Fields with errors are filled from the last good response")
    func erroredFieldsAreFilled() async throws {
      let larder = try await RunningLarder.start()
      let good = try JSONValue(parsing: try await larder.get("/api/films/f1").body)
      try await larder.demo.change { $0.fail = .partial }
      let answer = try await larder.get("/api/films/f1", ("Cache-Control", "no-cache"))
      #expect(answer.status == 200)
      let filled = try JSONValue(parsing: answer.body)
      #expect(filled["data"]?["film"]?["synopsis"] == good["data"]?["film"]?["synopsis"])
      #expect(filled["data"]?["film"]?["synopsis"]?.string != nil)
      #expect(filled["errors"]?.array?.isEmpty == false)
      #expect(filled["stale"]?.array == [["film", "synopsis"]])
      // Such a response is never fresh.
      try await larder.demo.change { $0.fail = .off }
      let next = try await larder.get("/api/films/f1")
      #expect(next.cacheStatus?.hasPrefix("fwd=") == true)
      #expect(try JSONValue(parsing: next.body)["errors"] == nil)
      await larder.stop()
    }

    @Test("Errors of the API are returned, beside the last good data if there is some")
    func applicationErrorsAreAResponse() async throws {
      let larder = try await RunningLarder.start()
      try await larder.demo.change { $0.fail = .graphQLErrors }
      let cold = try await larder.get("/api/films/f1")
      #expect(cold.status == 200)
      #expect(cold.cacheStatus == "fwd=uri-miss")
      #expect(cold["cache-control"] == "public, no-cache")
      let body = try JSONValue(parsing: cold.body)
      #expect(body["data"]?.isNull == true)
      #expect(body["errors"]?.array?.first?["extensions"]?["code"] == "INTERNAL_SERVER_ERROR")
      try await larder.demo.change { $0.fail = .off }
      let good = try JSONValue(parsing: try await larder.get("/api/films/f1").body)
      try await larder.demo.change { $0.fail = .graphQLErrors }
      let warm = try await larder.get("/api/films/f1", ("Cache-Control", "no-cache"))
      #expect(warm.status == 200)
      #expect(warm.cacheStatus?.hasSuffix("detail=stale-if-error") == true)
      let shown = try JSONValue(parsing: warm.body)
      #expect(shown["data"] == good["data"])
      #expect(shown["errors"] == body["errors"])
      #expect(shown["stale"] == [["film"]])
      await larder.stop()
    }

    @Test("A read that forbids asking upstream is 504 without a stored response")
    func onlyIfCachedWithoutACopyIs504() async throws {
      let larder = try await RunningLarder.start()
      let answer = try await larder.get("/api/films/f1", ("Cache-Control", "only-if-cached"))
      #expect(answer.status == 504)
      #expect(answer.text.contains("nothing_cached"))
      _ = try await larder.get("/api/films/f1")
      #expect(
        try await larder.get("/api/films/f1", ("Cache-Control", "only-if-cached")).status == 200)
      #expect(larder.demo.report["Film"].requests == 1)
      await larder.stop()
    }

    @Test("A read with no-store stores nothing")
    func noStoreStoresNothing() async throws {
      let larder = try await RunningLarder.start()
      let answer = try await larder.get("/api/films/f1", ("Cache-Control", "no-store"))
      #expect(answer.cacheStatus == "fwd=request")
      #expect(try await larder.get("/api/films/f1").cacheStatus == "fwd=uri-miss; stored")
      await larder.stop()
    }
  }
}
