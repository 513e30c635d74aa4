import HTTPTypes
import HTTPWire
import TestSupport
import Testing

@testable import HTTPServer

struct LoopTallyTests {
  private static func facts(
    route: Int32 = -1, operation: Int32 = -1, use: CacheUse? = nil
  ) -> RequestFacts {
    var facts = RequestFacts()
    facts.route = route
    facts.operation = operation
    facts.cacheUse = use
    return facts
  }

  private static let names = RequestNames(routes: ["/a", "/b/{id}"], operations: ["A", "B"])

  private static func counts(_ tally: LoopTally) -> ServerCounts {
    let counters = ServerCounters()
    counters.add(tally, names: names)
    return counters.counts
  }

  @Test(
    "A duration is in the first bucket whose bound is not below it",
    arguments: [
      (0, 0), (250_000, 0), (250_001, 1), (1_000_000, 1), (10_000_000_000, 13),
      (10_000_000_001, 14), (UInt64(1) << 50, 14),
    ])
  func buckets(nanoseconds: UInt64, bucket: Int) throws {
    var tally = LoopTally()
    tally.count(Self.facts(), method: .get, status: 200, nanoseconds: nanoseconds)
    let durations = try #require(Self.counts(tally).requests.values.first?.durations)
    #expect(durations.buckets.count == DurationCounts.boundsSeconds.count + 1)
    #expect(durations.buckets[bucket] == 1 && durations.count == 1)
    #expect(durations.sumNanoseconds == nanoseconds)
  }

  @Test("Requests are counted by route, method and status; unknown ones are other")
  func series() {
    var tally = LoopTally()
    tally.count(Self.facts(route: 0), method: .get, status: 200, nanoseconds: 1)
    tally.count(Self.facts(route: 0), method: .get, status: 200, nanoseconds: 1)
    tally.count(Self.facts(route: 1), method: .head, status: 304, nanoseconds: 1)
    tally.count(Self.facts(route: 9), method: nil, status: 400, nanoseconds: 1)
    tally.count(Self.facts(), method: .trace, status: 405, nanoseconds: 1)
    let counts = Self.counts(tally).requests.mapValues(\.count)
    #expect(
      counts == [
        .init(route: "/a", method: "GET", status: 200): 2,
        .init(route: "/b/{id}", method: "HEAD", status: 304): 1,
        .init(route: "other", method: "other", status: 400): 1,
        .init(route: "other", method: "TRACE", status: 405): 1,
      ])
  }

  @Test("The bytes of contents and responses are summed")
  func bytes() {
    var tally = LoopTally()
    for _ in 0..<3 {
      tally.count(
        Self.facts(route: 0), method: .put, status: 201, nanoseconds: 1, received: 5, sent: 700)
    }
    let counts = Self.counts(tally).requests.values.first
    #expect(counts?.bytesReceived == 15 && counts?.bytesSent == 2_100)
  }

  @Test("Uses of the cache are counted by operation; without a known one they are not")
  func cacheUses() {
    var tally = LoopTally(operationCount: 2)
    for use in CacheUse.allCases {
      tally.count(
        Self.facts(operation: 1, use: use), method: .get, status: 200, nanoseconds: 1)
    }
    tally.count(Self.facts(operation: 0, use: .hit), method: .get, status: 200, nanoseconds: 1)
    // The log has the use of a failed read; only responses are counted.
    for status in [401, 502, 504] {
      tally.count(
        Self.facts(operation: 0, use: .miss), method: .get, status: status, nanoseconds: 1)
    }
    tally.count(Self.facts(operation: 1), method: .get, status: 200, nanoseconds: 1)
    tally.count(Self.facts(operation: 2, use: .hit), method: .get, status: 200, nanoseconds: 1)
    tally.count(Self.facts(operation: -1, use: .hit), method: .get, status: 200, nanoseconds: 1)
    var expected: [ServerCounts.OperationUse: UInt64] = [.init(operation: "A", use: .hit): 1]
    for use in CacheUse.allCases { expected[.init(operation: "B", use: use)] = 1 }
    #expect(Self.counts(tally).cacheUses == expected)
  }

  @Test("Many series are counted like in a dictionary, over several flushes")
  func manySeries() {
    var random = SeededGenerator(seed: 7)
    let routes = (0..<700).map { "/r\($0)" }
    let names = RequestNames(routes: routes)
    let counters = ServerCounters()
    var tally = LoopTally()
    var expected: [ServerCounts.Series: UInt64] = [:]
    for round in 0..<20_000 {
      let route = Int.random(in: 0..<routes.count, using: &random)
      let method = RequestMethod.allCases.randomElement(using: &random) ?? .get
      let status = [200, 304, 404, 500].randomElement(using: &random) ?? 200
      tally.count(
        Self.facts(route: Int32(route)), method: method, status: status, nanoseconds: 5)
      expected[.init(route: routes[route], method: method.name, status: status), default: 0] += 1
      if round % 1_000 == 999 {
        counters.add(tally, names: names)
        tally.clear()
      }
    }
    #expect(counters.counts.requests.mapValues(\.count) == expected)
  }
}

/// Counting and logging over a socket.
struct ServerCountTests {
  @Test("Responses of routes, immediate responses and refusals are counted")
  func responsesAreCounted() async throws {
    let router = try Router([
      Route(.get, "/films/{id}") { request in
        request.note {
          $0.operation = 0
          $0.cacheUse = .miss
        }
        return .text("x")
      }
    ])
    var handler = ScriptedHandler { await router.respond(to: $0) }
    handler.names = RequestNames(routes: router.names.routes, operations: ["Film"])
    handler.look = { head, _, stamp, output in
      guard head.path.elementsEqual("/hit".utf8) else { return false }
      stamp.facts.route = 0
      stamp.facts.operation = 0
      stamp.facts.cacheUse = .hit
      output.append("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
      return true
    }
    try await ServerFixture.serve(handler) { server in
      try await server.withClient { client in
        _ = try client.request("GET", "/films/1")
        _ = try client.request("HEAD", "/films/2")
        _ = try client.request("GET", "/hit")
        _ = try client.request("GET", "/nowhere")
        try client.send("nonsense\r\n")
        _ = try client.response()
      }
      let expected: [ServerCounts.Series: UInt64] = [
        .init(route: "/films/{id}", method: "GET", status: 200): 2,
        .init(route: "/films/{id}", method: "HEAD", status: 200): 1,
        .init(route: "other", method: "GET", status: 404): 1,
        .init(route: "other", method: "other", status: 400): 1,
      ]
      let isCounted = await eventuallyHolds {
        server.service.counts.requests.mapValues(\.count) == expected
      }
      #expect(isCounted, "\(server.service.counts.requests.mapValues(\.count))")
      #expect(
        server.service.counts.cacheUses == [
          .init(operation: "Film", use: .hit): 1, .init(operation: "Film", use: .miss): 2,
        ])
      #expect(server.service.counts.connectionsAccepted == 1)
    }
  }

  @Test("A stream of events is open until its client leaves, and is then counted with its start")
  func eventStreams() async throws {
    let end = Gate()
    let handler = ScriptedHandler { _ in
      ServerResponse(
        status: .ok, fields: [.contentType: "text/event-stream"],
        body: .stream(length: nil) { writer in
          writer.streamEvents(stallMax: .seconds(5))
          try await writer.write("data: 1\n\n")
          await end.wait()
        })
    }
    try await ServerFixture.serve(handler) { server in
      var peer: BytePeer? = try BytePeer(port: server.port)
      peer?.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
      let isOpen = await eventuallyHolds { server.service.counts.eventStreams == 1 }
      #expect(isOpen)
      peer = nil
      let isCounted = await eventuallyHolds {
        let counts = server.service.counts
        return counts.eventStreams == 0 && counts.requests.values.map(\.count) == [1]
      }
      end.open()
      #expect(isCounted, "\(server.service.counts)")
    }
  }
}
