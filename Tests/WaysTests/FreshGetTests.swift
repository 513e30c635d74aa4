import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// The first way: a read that is served from the response cache, and the misses before it.
  struct FreshGetTests {
    @Test("The second read is served from the response cache")
    func theSecondReadComesFromMemory() async throws {
      let larder = try await RunningLarder.start()
      let first = try await larder.get("/api/films/f1")
      let second = try await larder.get("/api/films/f1")
      let third = try await larder.get("/v1/operations/Film?id=f1")
      #expect(first.status == 200)
      #expect(first.cacheStatus == "fwd=uri-miss; stored")
      #expect(second.cacheStatus?.hasPrefix("hit; ttl=") == true)
      #expect(third.cacheStatus?.hasPrefix("hit; ttl=") == true)
      #expect(first.body == second.body && second.body == third.body)
      #expect(first["etag"] == second["etag"] && second["etag"] == third["etag"])
      #expect(larder.demo.report["Film"].requests == 1)
      await larder.stop()
    }

    @Test("A read carries its validators, cache fields and cursor")
    func readHasValidatorsAndCacheFields() async throws {
      let larder = try await RunningLarder.start()
      for _ in 0..<2 {
        let answer = try await larder.get("/api/films/f1", ("Request-Id", "abc-1"))
        #expect(answer["content-type"] == "application/json")
        #expect(answer["etag"]?.hasPrefix("\"") == true)
        #expect(
          answer["cache-control"]
            == "public, max-age=60, stale-while-revalidate=600, stale-if-error=86400")
        #expect(answer["vary"] == "Accept-Encoding, Authorization, Device-Token")
        #expect(answer["age"] == "0")
        #expect(answer["sync-cursor"]?.isEmpty == false)
        #expect(answer["request-id"] == "abc-1")
        #expect(answer["x-content-type-options"] == "nosniff")
        #expect(answer["date"] != nil)
        #expect(answer["server-timing"] != nil)
        let body = try JSONValue(parsing: answer.body)
        #expect(body["data"]?["film"]?["id"]?.string == "f1")
      }
      await larder.stop()
    }

    @Test("A read of unchanged data is 304 without an upstream request")
    func anUnchangedReadIs304WithoutUpstream() async throws {
      let larder = try await RunningLarder.start()
      let tag = try #require(try await larder.get("/api/films/f1")["etag"])
      for condition in [tag, "\"other\", W/\(tag)", "*"] {
        let answer = try await larder.get("/api/films/f1", ("If-None-Match", condition))
        #expect(answer.status == 304, "\(condition)")
        #expect(answer.body.isEmpty)
        for name in ["etag", "cache-control", "date", "vary", "sync-cursor", "cache-status"] {
          #expect(answer[name] != nil, "\(name)")
        }
      }
      #expect(try await larder.get("/api/films/f1", ("If-None-Match", "\"other\"")).status == 200)
      #expect(larder.demo.report["Film"].requests == 1)
      await larder.stop()
    }

    @Test("The gzip representation has its own entity tag")
    func gzipHasItsOwnTag() async throws {
      let larder = try await RunningLarder.start()
      let plain = try await larder.get("/api/films/f1")
      let tag = try #require(plain["etag"])
      for _ in 0..<2 {
        let coded = try await larder.get("/api/films/f1", ("Accept-Encoding", "gzip"))
        #expect(coded["content-encoding"] == "gzip")
        #expect(coded.body.starts(with: [0x1F, 0x8B]))
        #expect(coded.body.count < plain.body.count)
        let codedTag = try #require(coded["etag"])
        #expect(codedTag != tag)
        let unchanged = try await larder.get(
          "/api/films/f1", ("Accept-Encoding", "gzip"), ("If-None-Match", codedTag))
        #expect(unchanged.status == 304)
        #expect(unchanged["etag"] == codedTag)
      }
      #expect(try await larder.get("/api/films/f1", ("Accept-Encoding", "gzip;q=0"))["etag"] == tag)
      await larder.stop()
    }

    @Test("HEAD is GET without the body")
    func headIsGetWithoutTheBody() async throws {
      let larder = try await RunningLarder.start()
      for _ in 0..<2 {
        let head = try await larder.request("HEAD", "/api/films/f1")
        let get = try await larder.get("/api/films/f1")
        #expect(head.status == 200)
        #expect(head.body.isEmpty)
        #expect(head["content-length"] == get["content-length"])
        #expect(head["etag"] == get["etag"])
      }
      await larder.stop()
    }

    @Test("A thousand concurrent misses make one upstream request")
    func aThousandConcurrentMissesMakeOneUpstreamCall() async throws {
      let larder = try await RunningLarder.start()
      try await larder.demo.change { $0.latency = .milliseconds(700) }
      let port = larder.port
      let answers = try await onOwnThread {
        let clients = try (0..<1_000).map { _ in try RawClient(port: port, timeoutSeconds: 30) }
        for client in clients { try client.send("GET /api/films/f7 HTTP/1.1\r\nHost: x\r\n\r\n") }
        return try clients.map { try $0.response() }
      }
      let bodies = Set(answers.map(\.body))
      let collapsed = answers.filter { $0.cacheStatus == "fwd=uri-miss; collapsed" }
      #expect(answers.allSatisfy { $0.status == 200 })
      #expect(collapsed.count > 900)
      #expect(larder.demo.report["Film"].requests == 1)
      #expect(bodies.count == 1)
      await larder.stop()
    }
  }
}

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
