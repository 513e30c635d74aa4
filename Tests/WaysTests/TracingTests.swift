import DemoUpstream
import HTTPTypes
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  struct TracingTests {
    private typealias Span = TraceCollector.Span
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let parent = "b7ad6b7169203331"
    private static let sampled = ("traceparent", "00-\(trace)-\(parent)-01")

    private static func settings(_ collector: TraceCollector, sample: String = "1") -> String {
      """
      tracing:
        endpoint: \(collector.url)
        sample: \(sample)
        headers: {Authorization: Bearer key-of-the-collector}
      """
    }

    /// Runs a test with a collector and a service, and checks that all that arrived is right.
    private static func with(
      sample: String = "1", _ body: (SyncWorld, TraceCollector) async throws -> Void
    ) async throws {
      let collector = try await TraceCollector()
      let world = try await SyncWorld.start(settings: settings(collector, sample: sample))
      try await body(world, collector)
      await world.stop()
      #expect(collector.faults.isEmpty)
      #expect(collector.treeFaults.isEmpty)
      await collector.stop()
    }

    private static func request(_ spans: [Span], _ path: String) -> [Span] {
      spans.filter { $0.kind == 2 && $0.text("url.path") == path }
    }

    private static func children(_ spans: [Span], of span: Span) -> [Span] {
      spans.filter { $0.parent == span.id }
    }

    @Test("A miss is a request, a flight, an upstream call and a commit; a hit is a request alone")
    func tracesAReadFromEndToEnd() async throws {
      try await Self.with { world, collector in
        let fields = [Self.sampled, ("tracestate", "vendor=1"), ("Request-Id", "read-1")]
        for _ in 0..<2 {
          let answer = try await world.larder.request(
            "GET", "/api/films/f1?x=secret", headers: fields)
          #expect(answer.status == 200 || answer.status == 400)
        }
        for _ in 0..<2 {
          #expect(
            try await world.larder.request("GET", "/api/films/f2", headers: fields).status == 200)
        }
        let spans = await collector.spans { Self.request($0, "/api/films/f2").count == 2 }
        let (miss, hit) = try Self.pair(Self.request(spans, "/api/films/f2"))
        for request in [miss, hit] {
          #expect(request.name == "GET /api/films/{id}")
          #expect(request.trace == Self.trace && request.parent == Self.parent)
          #expect(request.flags & 0x200 != 0, "the parent is another service's")
          #expect(request.state == "vendor=1")
          #expect(request.text("http.route") == "/api/films/{id}")
          #expect(request.text("http.request.method") == "GET")
          #expect(request.number("http.response.status_code") == 200)
          #expect(request.text("larder.operation") == "Film")
          #expect(request.text("larder.request.id") == "read-1")
          #expect(!request.isFailed)
        }
        #expect(miss.text("larder.cache.outcome") == "miss")
        #expect(hit.text("larder.cache.outcome") == "hit")
        #expect(Self.children(spans, of: hit).isEmpty)
        let flight = try #require(Self.children(spans, of: miss).first)
        #expect(flight.name == "flight" && flight.kind == 1)
        let below = Self.children(spans, of: flight)
        #expect(Set(below.map(\.name)) == ["POST", "commit"])
        let call = try #require(below.first { $0.kind == 3 })
        #expect(call.text("server.address") == "127.0.0.1")
        #expect(call.number("server.port") == Int64(world.larder.demo.port))
        #expect(call.number("http.response.status_code") == 200)
        #expect(call.text("larder.operation") == "Film")
        // Upstream continues the call's span.
        let sent = world.larder.demo.report.recent.compactMap { $0["traceparent"] }
        #expect(sent.contains("00-\(Self.trace)-\(call.id)-01"))
        #expect(world.larder.demo.report.recent.contains { $0["tracestate"] == "vendor=1" })
        #expect(collector.authorization == "Bearer key-of-the-collector")
      }
    }

    /// The first and the second of two spans.
    private static func pair(_ spans: [Span]) throws -> (Span, Span) {
      let spans = spans.sorted { $0.start < $1.start }
      return (try #require(spans.first), try #require(spans.dropFirst().first))
    }

    @Test("Requests that share a flight link to its span")
    func linksFollowersToTheirFlight() async throws {
      try await Self.with { world, collector in
        try await world.larder.demo.change { $0.latency = .milliseconds(500) }
        let port = world.larder.port
        let answers = try await onOwnThread {
          let clients = try (0..<5).map { _ in try RawClient(port: port) }
          for client in clients { try client.send("GET /api/films/f3 HTTP/1.1\r\nHost: x\r\n\r\n") }
          return try clients.map { try $0.response().status }
        }
        #expect(answers == [200, 200, 200, 200, 200])
        let spans = await collector.spans { Self.request($0, "/api/films/f3").count == 5 }
        let requests = Self.request(spans, "/api/films/f3")
        let flights = spans.filter { $0.name == "flight" && $0.text("larder.operation") == "Film" }
        let flight = try #require(flights.first)
        #expect(flights.count == 1)
        #expect(Set(requests.map(\.trace)).count == 5)
        let followers = requests.filter { $0.text("larder.cache.outcome") == "collapsed" }
        #expect(followers.count == 4)
        for follower in followers { #expect(follower.links == [[flight.trace, flight.id]]) }
        let leader = try #require(requests.first { $0.links.isEmpty })
        #expect(flight.parent == leader.id)
      }
    }

    @Test("A queued mutation's attempt links to the request that enqueued it, also after a restart")
    func linksAttempts() async throws {
      try await Self.with { world, collector in
        try await world.pause()
        let fields = [
          world.device, SyncWorld.ada, ("Idempotency-Key", "k1"), Self.sampled,
          ("Content-Type", "application/json"),
        ]
        let answer = try await world.larder.request(
          "POST", "/v1/mutations", headers: fields, body: SyncWorld.rating("f1"))
        #expect(answer.status == 202, "\(answer.text)")
        let id = try #require(try JSONValue(parsing: answer.body)["id"]?.string)
        await world.larder.stopService()
        try await world.larder.startService()
        try await world.resume()
        _ = try await world.mutation(id, is: "applied")
        let spans = await collector.spans { $0.contains { $0.name == "queue attempt" } }
        let submission = try #require(Self.request(spans, "/v1/mutations").first)
        #expect(submission.trace == Self.trace)
        #expect(Self.children(spans, of: submission).map(\.name) == ["commit"])
        let attempt = try #require(spans.first { $0.name == "queue attempt" })
        #expect(attempt.kind == 5)
        #expect(attempt.parent.isEmpty)
        #expect(attempt.trace != Self.trace)
        #expect(attempt.links == [[Self.trace, submission.id]])
        #expect(attempt.text("larder.operation") == "RateFilm")
        #expect(attempt.text("larder.queue.mode") == "lazy")
        #expect(attempt.text("larder.queue.outcome") == "applied")
        #expect(attempt.number("larder.queue.attempt") == 1)
        let below = Self.children(spans, of: attempt)
        #expect(Set(below.map(\.name)) == ["POST", "commit"])
        let call = try #require(below.first { $0.kind == 3 })
        #expect(
          world.larder.demo.report.recent.contains {
            $0["traceparent"] == "00-\(attempt.trace)-\(call.id)-03"
          })
      }
    }

    @Test("A direct mutation is a request with an upstream call and a commit")
    func tracesAMutation() async throws {
      try await Self.with { world, collector in
        let answer = try await world.larder.request(
          "POST", "/v1/operations/RateFilm",
          headers: [SyncWorld.ada, Self.sampled], body: #"{"id":"f1","stars":3}"#)
        #expect(answer.status == 200, "\(answer.text)")
        let path = "/v1/operations/RateFilm"
        let spans = await collector.spans { !Self.request($0, path).isEmpty }
        let request = try #require(Self.request(spans, path).first)
        #expect(request.name == "POST /v1/operations/{name}")
        #expect(request.text("larder.operation") == "RateFilm")
        #expect(Set(Self.children(spans, of: request).map(\.name)) == ["POST", "commit"])
      }
    }

    @Test("A failure of upstream marks the call, its flight and the request")
    func marksFailures() async throws {
      try await Self.with { world, collector in
        try await world.larder.demo.change { $0.fail = .status(500) }
        let answer = try await world.larder.get("/api/films/f1", Self.sampled)
        #expect(answer.status >= 500)
        let spans = await collector.spans { !Self.request($0, "/api/films/f1").isEmpty }
        let request = try #require(Self.request(spans, "/api/films/f1").first)
        #expect(request.isFailed)
        #expect(request.text("error.type") == "\(answer.status)")
        let flight = try #require(Self.children(spans, of: request).first)
        #expect(flight.isFailed)
        let call = try #require(Self.children(spans, of: flight).first)
        #expect(call.isFailed)
        #expect(call.text("error.type") == "500")
      }
    }

    @Test(
      "The caller's decision counts, and the ratio for others",
      arguments: [("0", "01", true), ("1", "00", false)])
    func followsTheCaller(sample: String, flags: String, isRecorded: Bool) async throws {
      try await Self.with(sample: sample) { world, collector in
        let caller = ("traceparent", "00-\(Self.trace)-\(Self.parent)-\(flags)")
        for _ in 0..<2 { _ = try await world.larder.get("/api/films/f1", caller) }
        // Without one, and with ones that are not valid: a trace begins, by the ratio.
        for bad in ["00-\(Self.trace)-0000000000000000-\(flags)", "ff-1", "x"] {
          for _ in 0..<2 { _ = try await world.larder.get("/api/films/f2", ("traceparent", bad)) }
        }
        await world.larder.stopService()
        let spans = collector.spans
        #expect(Self.request(spans, "/api/films/f1").count == (isRecorded ? 2 : 0))
        #expect(Self.request(spans, "/api/films/f2").count == (isRecorded ? 0 : 6))
        #expect(
          Self.request(spans, "/api/films/f2").allSatisfy {
            $0.parent.isEmpty && $0.trace != Self.trace
          })
        // Upstream knows the decision either way.
        let sent = world.larder.demo.report.recent.compactMap { $0["traceparent"] }
        #expect(sent.contains { $0.hasPrefix("00-\(Self.trace)-") && $0.hasSuffix("-\(flags)") })
      }
    }

    @Test("Nothing secret is in a span")
    func recordsNoSecrets() async throws {
      try await Self.with { world, collector in
        let secret = "s3cr3t-value"
        let fields = [
          Self.sampled, ("Authorization", "Bearer \(secret)"), ("Cookie", "session=\(secret)"),
          ("X-Forwarded-For", secret), ("User-Agent", secret), world.device,
        ]
        for target in [
          "/api/films/f1?ticket=\(secret)", "/v1/operations/Film?id=\(secret)",
          "/v1/files/photos/a.png?X-Amz-Signature=\(secret)", "/v1/changes?since=\(secret)",
        ] {
          _ = try await world.larder.request("GET", target, headers: fields)
        }
        _ = try await world.larder.request(
          "POST", "/v1/operations/RateFilm", headers: fields,
          body: #"{"id":"\#(secret)","stars":3}"#)
        _ = try await world.larder.request(
          "POST", "/v1/graphql", headers: fields,
          body: #"{"operationName":"Film","variables":{"id":"\#(secret)"}}"#)
        await world.larder.stopService()
        let spans = collector.spans
        #expect(spans.count { $0.kind == 2 } >= 6)
        let token = world.device.1
        for span in spans {
          let text = "\(span)"
          #expect(!text.contains(secret), "\(text)")
          #expect(!text.contains(token), "\(text)")
        }
      }
    }

    @Test("A collector that fails changes no response, and what was dropped is counted")
    func survivesAFailingCollector() async throws {
      let collector = try await TraceCollector()
      collector.setStatus(400)
      let larder = try await RunningLarder.start(settings: Self.settings(collector))
      for number in 0..<20 {
        #expect(try await larder.get("/api/films/f\(number % 5 + 1)").status == 200)
      }
      #expect(await eventuallyHolds { collector.requests > 0 })
      await larder.stop()
      #expect(collector.spans.isEmpty)
      let lines = larder.log.lines.map(\.text)
      #expect(lines.contains { $0.contains("spans were dropped") }, "\(lines)")
      await collector.stop()
    }

    @Test("Without a collector contexts are passed to upstream as they came")
    func passesContextsOn() async throws {
      let larder = try await RunningLarder.start()
      _ = try await larder.get("/api/films/f1", Self.sampled, ("tracestate", "a=1 , b=2"))
      let recent = larder.demo.report.recent.filter { $0["traceparent"] != nil }
      #expect(recent.map { $0["traceparent"] } == [Self.sampled.1])
      #expect(recent.map { $0["tracestate"] } == ["a=1,b=2"])
      let malformed = "00-\(Self.trace)-\(Self.parent)-0"
      _ = try await larder.get("/api/films/f2", ("traceparent", malformed))
      #expect(larder.demo.report.recent.count { $0["traceparent"] != nil } == 1)
      await larder.stop()
    }
  }
}
