import HTTPServer
import HTTPTypes
import HTTPWire
import Synchronization
import TestSupport
import Testing
import Traces
import Tracing

struct TracingTests {
  private static let trace = "0af7651916cd43dd8448eb211c80319c"
  private static let parent = "00-\(trace)-b7ad6b7169203331-01"

  private struct Answer {
    let respond: @Sendable (ServerRequest) async -> ServerResponse
  }

  /// The spans of requests, and the server that makes them.
  private struct World {
    let tracer: SpanTracer
    let server: ServerFixture

    /// Waits for as many spans, and returns all.
    func spans(_ count: Int) async -> [SpanRecord] {
      #expect(await eventuallyHolds { tracer.buffer.count >= count })
      return tracer.buffer.take(bytesMax: .max)
    }
  }

  private static func serve(
    share: Double = 1, _ answer: Answer, _ body: (World) async throws -> Void
  ) async throws {
    var handler = ScriptedHandler(answer: answer.respond)
    handler.look = { head, _, stamp, output in
      guard head.path.elementsEqual("/fast".utf8) else { return false }
      output.append("HTTP/1.1 200 OK\r\n")
      stamp.appendDate(to: &output)
      stamp.appendRequestID(for: head, to: &output)
      output.append("Content-Length: 4\r\n\r\nfast")
      stamp.facts.route = 1
      stamp.facts.operation = 0
      stamp.facts.cacheUse = .hit
      return true
    }
    handler.names = RequestNames(routes: ["/films/{id}", "/fast"], operations: ["Fast"])
    let tracer = SpanTracer(
      ratio: SamplingRatio(share), buffer: SpanBuffer { _ in },
      random: { UInt64.random(in: 0...UInt64.max) })
    try await ServerFixture.serve(handler, tracer: tracer) { server in
      try await body(World(tracer: tracer, server: server))
    }
  }

  private static func text(_ span: SpanRecord, _ name: String) -> String? {
    guard case .string(let text) = span.attributes.get(name) else { return nil }
    return text
  }

  private static func number(_ span: SpanRecord, _ name: String) -> Int64? {
    guard case .int64(let number) = span.attributes.get(name) else { return nil }
    return number
  }

  @Test("A request has a span with the attributes of HTTP, and the handler is within it")
  func recordsARequest() async throws {
    try await Self.serve(
      Answer { request in
        #expect(CurrentTrace.id == request.trace?.context.traceID)
        CurrentTrace.span?.set("larder.operation", "Slow")
        return .text(CurrentTrace.active?.context.traceparent ?? "none")
      }
    ) { world in
      let response = try await world.server.withClient { client in
        try client.request(
          "GET", "/slow/path?ticket=secret",
          headers: [
            ("Host", "api.example.com:8443"), ("traceparent", Self.parent),
            ("tracestate", "a=1"), ("Request-Id", "me"), ("Authorization", "Bearer secret"),
          ])
      }
      let span = try #require(await world.spans(1).first)
      #expect(response.text == span.context.traceparent)
      #expect(span.name == "GET")
      #expect(span.kind == .server)
      #expect("\(span.context.traceID)" == Self.trace)
      #expect(span.parent.map { "\($0)" } == "b7ad6b7169203331")
      #expect(span.hasRemoteParent)
      #expect(span.context.state == "a=1")
      #expect(
        span.attributes == [
          "http.request.method": "GET", "url.path": "/slow/path", "url.scheme": "http",
          "network.protocol.version": "1.1", "server.address": "api.example.com",
          "server.port": 8443, "larder.request.id": "me", "larder.operation": "Slow",
          "http.response.status_code": 200,
        ])
      #expect(span.status == nil)
      #expect(span.end >= span.start)
    }
  }

  @Test("An immediate response has a span too")
  func recordsAnImmediateResponse() async throws {
    try await Self.serve(Answer { _ in .text("slow") }) { world in
      let response = try await world.server.withClient { client in
        try client.request("GET", "/fast?x=1", headers: [("traceparent", Self.parent)])
      }
      #expect(response.text == "fast")
      let span = try #require(await world.spans(1).first)
      #expect(span.name == "GET /fast")
      #expect(span.hasRemoteParent)
      #expect("\(span.context.traceID)" == Self.trace)
      #expect(Self.text(span, "url.path") == "/fast")
      #expect(Self.text(span, "http.route") == "/fast")
      #expect(Self.text(span, "larder.operation") == "Fast")
      #expect(Self.text(span, "larder.cache.outcome") == "hit")
      #expect(Self.text(span, "larder.request.id") == response["request-id"])
      #expect(Self.number(span, "http.response.status_code") == 200)
      #expect(span.end >= span.start)
    }
  }

  @Test("The caller decides whether its trace is recorded", arguments: [0.0, 1.0])
  func followsTheCaller(share: Double) async throws {
    try await Self.serve(share: share, Answer { _ in .text(CurrentTrace.id.map { "\($0)" } ?? "") })
    {
      world in
      let sampled = Self.parent
      let unsampled = String(sampled.dropLast()) + "0"
      let ids = try await world.server.withClient { client in
        try ["/a", "/fast", "/b", "/fast"].enumerated().map { place, path in
          try client.request(
            "GET", path, headers: [("traceparent", place < 2 ? unsampled : sampled)]
          ).text
        }
      }
      // The id is known either way.
      #expect(ids == [Self.trace, "fast", Self.trace, "fast"])
      let spans = await world.spans(2)
      #expect(spans.compactMap { Self.text($0, "url.path") } == ["/b", "/fast"])
    }
  }

  @Test(
    "A traceparent that is not valid begins a new trace",
    arguments: [
      [("traceparent", "00-00000000000000000000000000000000-b7ad6b7169203331-01")],
      [("traceparent", "ff-\(trace)-b7ad6b7169203331-01")],
      [("traceparent", "00-\(trace.uppercased())-b7ad6b7169203331-01")],
      [("traceparent", parent), ("traceparent", parent)],
      [("traceparent", parent + "-00")], [("tracestate", "a=1")],
    ], ["/slow", "/fast"])
  func ignoresHostileParents(fields: [(String, String)], path: String) async throws {
    try await Self.serve(Answer { _ in .text("slow") }) { world in
      _ = try await world.server.withClient { client in
        try client.request("GET", path, headers: fields)
      }
      let span = try #require(await world.spans(1).first)
      #expect("\(span.context.traceID)" != Self.trace)
      #expect(span.parent == nil)
      #expect(span.context.state.isEmpty)
    }
  }

  @Test("A failure of the server marks its span, a mistake of the client does not")
  func marksFailures() async throws {
    try await Self.serve(
      Answer { request in
        ServerResponse(status: request.path == "/broken" ? .serviceUnavailable : .notFound)
      }
    ) { world in
      try await world.server.withClient { client in
        _ = try client.request("GET", "/missing")
        _ = try client.request("GET", "/broken")
      }
      let spans = await world.spans(2)
      #expect(spans.map { Self.number($0, "http.response.status_code") } == [404, 503])
      #expect(spans.map(\.status?.code) == [nil, .error])
      #expect(spans.map { Self.text($0, "error.type") } == [nil, "503"])
    }
  }

  @Test("A client that leaves ends the span of its request without a status")
  func endsWithItsClient() async throws {
    let gate = Gate()
    try await Self.serve(
      Answer { _ in
        await gate.wait()
        return .text("late")
      }
    ) { world in
      try await world.server.withPeer { peer in
        peer.resetAtEnd()
        peer.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        // Each look takes a millisecond.
        for _ in 0..<10_000 where gate.arrivals == 0 {
          _ = peer.drip("", everyMilliseconds: 1, countMax: 1)
        }
      }
      let spans = await world.spans(1)
      gate.open()
      let span = try #require(spans.first)
      #expect(Self.number(span, "http.response.status_code") == nil)
      #expect(Self.text(span, "error.type") == "disconnected")
      #expect(span.status?.code == .error)
    }
  }

  @Test("Routes name their spans")
  func namesRoutes() async throws {
    let router = try Router([Route(.get, "/films/{id}") { _ in .text("film") }])
    try await Self.serve(Answer { await router.respond(to: $0) }) { world in
      try await world.server.withClient { client in
        _ = try client.request("GET", "/films/f1")
        _ = try client.request("GET", "/none")
      }
      let spans = await world.spans(2)
      #expect(spans.map(\.name) == ["GET /films/{id}", "GET"])
      #expect(spans.map { Self.text($0, "http.route") } == ["/films/{id}", nil])
    }
  }

  @Test("Log lines have the id of the trace, whether it is recorded or not")
  func logsTraceIDs() async throws {
    let lines = Lines()
    var handler = ScriptedHandler { .text($0.trace.map { "\($0.context.traceID)" } ?? "none") }
    handler.look = { head, _, stamp, output in
      guard head.path.elementsEqual("/fast".utf8) else { return false }
      output.append("HTTP/1.1 204 Fine\r\n\r\n")
      return true
    }
    let tracer = SpanTracer(
      ratio: SamplingRatio(0), buffer: SpanBuffer { _ in },
      random: { UInt64.random(in: 0...UInt64.max) })
    let log = LineAccessLog(label: "tests", isJSON: false, write: { lines.append($0) })
    try await ServerFixture.serve(handler, accessLog: log, tracer: tracer) { server in
      let begun = try await server.withClient { client in
        let begun = try client.request("GET", "/slow").text
        for path in ["/slow", "/fast"] {
          _ = try client.request("GET", path, headers: [("traceparent", Self.parent)])
        }
        _ = try client.request("GET", "/fast")
        return begun
      }
      #expect(await eventuallyHolds { lines.all.count == 4 })
      #expect(
        lines.all.map { $0.firstMatch(of: /trace_id=([0-9a-f]+)/)?.1.description }
          == [begun, Self.trace, Self.trace, nil])
    }
  }

  private final class Lines: Sendable {
    private let text = Mutex("")

    var all: [Substring] { text.withLock { $0.split(separator: "\n") } }

    func append(_ bytes: [UInt8]) {
      text.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
    }
  }

  @Test("Without a tracer a valid context is passed on as it is, and nothing else is a trace")
  func passesContextsOn() async throws {
    let handler = ScriptedHandler { request in
      #expect(CurrentTrace.span == nil)
      let context = CurrentTrace.active?.context
      return .text("\(context?.traceparent ?? "none") \(context?.state ?? "")")
    }
    try await ServerFixture.serve(handler) { server in
      let texts = try await server.withClient { client in
        [
          try client.request(
            "GET", "/", headers: [("traceparent", Self.parent), ("tracestate", "a=1")]
          ).text,
          try client.request("GET", "/", headers: [("traceparent", "00-1-2-03")]).text,
          try client.request("GET", "/").text,
        ]
      }
      #expect(texts == ["\(Self.parent) a=1", "none ", "none "])
    }
  }
}
