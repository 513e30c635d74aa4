import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// The windows after the fresh one: stale, and stored as a fallback.
  struct FreshnessWindowTests {
    static let always = [
      "swr": """
      query Quick($id: ID!) @cache(maxAge: 0, staleWhileRevalidate: 600, scope: PUBLIC) {
        film(id: $id) { id title }
      }
      query Plain($id: ID!) @cache(scope: PUBLIC) { film(id: $id) { id title } }
      query Short($id: ID!) @cache(maxAge: 0, staleIfError: 0, scope: PUBLIC) {
        film(id: $id) { id title }
      }
      """
    ]

    @Test("A stale response is served at once and refreshed in the background")
    func staleResponseIsServedAndRefreshed() async throws {
      let larder = try await RunningLarder.start(operations: Self.always)
      let target = "/v1/operations/Quick?id=f1"
      #expect(try await larder.get(target).cacheStatus == "fwd=uri-miss; stored")
      // Upstream no longer responds; the stale response does not wait for it.
      try await larder.demo.change { $0.fail = .hang }
      let stale = try await larder.get(target)
      #expect(stale.status == 200)
      #expect(stale.cacheStatus?.hasSuffix("detail=refreshing") == true)
      let calls = try await eventually {
        larder.demo.report["Quick"].requests
      } until: {
        $0 == 2
      }
      #expect(calls == 2)
      await larder.stop()
    }

    @Test("Without a cache policy each read asks upstream")
    func withoutAPolicyEachReadAsksUpstream() async throws {
      let larder = try await RunningLarder.start(operations: Self.always)
      for _ in 0..<3 {
        let answer = try await larder.get("/v1/operations/Plain?id=f1")
        #expect(answer.cacheStatus?.hasPrefix("fwd=") == true)
        #expect(answer["cache-control"] == "public, no-cache")
      }
      #expect(larder.demo.report["Plain"].requests == 3)
      // An unchanged response is a 304 nevertheless.
      let tag = try #require(try await larder.get("/v1/operations/Plain?id=f1")["etag"])
      let unchanged = try await larder.get(
        "/v1/operations/Plain?id=f1", ("If-None-Match", tag))
      #expect(unchanged.status == 304)
      await larder.stop()
    }

    @Test("An expired response is not served")
    func expiredResponseIsNotServed() async throws {
      let larder = try await RunningLarder.start(operations: Self.always)
      #expect(try await larder.get("/v1/operations/Short?id=f1").status == 200)
      try await larder.demo.change { $0.fail = .status(500) }
      #expect(try await larder.get("/v1/operations/Short?id=f1").status == 502)
      #expect(
        try await larder.get("/v1/operations/Short?id=f1", ("Cache-Control", "max-stale")).status
          == 502)
      await larder.stop()
    }

    /// Reads in the moment after a failure share it, rather than asking upstream each.
    @Test("An upstream failure is cached briefly, so that not every read asks upstream")
    func failuresAreCachedBriefly() async throws {
      let larder = try await RunningLarder.start(operations: Self.always)
      try await larder.demo.change { $0.fail = .status(500) }
      for _ in 0..<5 {
        #expect(try await larder.get("/v1/operations/Plain?id=f1").status == 502)
      }
      #expect(larder.demo.report["Plain"].requests < 5)
      await larder.stop()
    }
  }
}
