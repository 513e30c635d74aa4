import HTTPClient
import HTTPTypes
import Testing
import Traces
import Tracing

@testable import Upstream

struct UpstreamTracingTests {
  private static let json = "application/json"
  private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

  private let tracer = SpanTracer(
    ratio: SamplingRatio(1), buffer: SpanBuffer { _ in },
    random: { UInt64.random(in: 0...UInt64.max) })

  private func execute(_ upstream: ScriptedUpstream) async throws {
    let settings = UpstreamConfiguration(url: "http://up/graphql")
    let operation = try Samples.operation("query Film { film(id: 9) { title } }")
    _ = try await upstream.client(settings).execute(
      operation, variables: .none, call: UpstreamCall())
  }

  private static func field(_ name: String, of upstream: ScriptedUpstream) throws -> String? {
    try #require(upstream.seen.first).fields[try #require(HTTPField.Name(name))]
  }

  @Test("A call has a span, whose context upstream receives")
  func recordsACall() async throws {
    let upstream = ScriptedUpstream(200, Self.json, #"{"data":{"film":null}}"#)
    var caller = try #require(TraceContext(traceparent: Self.parent))
    caller.state = "a=1"
    let request = tracer.entry("GET", kind: .server, parent: caller, isSampled: true)
    try await request.during { try await execute(upstream) }
    let spans = tracer.buffer.take(bytesMax: .max)
    let span = try #require(spans.first)
    #expect(span.parent == spans.last?.context.spanID)
    #expect(span.kind == .client)
    #expect(span.name == "POST")
    #expect(
      span.attributes == [
        "http.request.method": "POST", "url.full": "http://up/graphql", "server.address": "up",
        "server.port": 80, "larder.operation": "Film", "http.response.status_code": 200,
      ])
    #expect(span.status == nil)
    #expect(try Self.field("traceparent", of: upstream) == span.context.traceparent)
    #expect(try Self.field("tracestate", of: upstream) == "a=1")
  }

  @Test("A failed call marks its span", arguments: [(500, "500"), (200, "malformed")])
  func marksFailures(status: Int, type: String) async throws {
    let upstream = ScriptedUpstream(status, "text/html", "<html>")
    let request = tracer.entry("GET", kind: .server, parent: nil, isSampled: true)
    await #expect(throws: UpstreamFailure.self) {
      try await request.during { try await execute(upstream) }
    }
    let span = try #require(tracer.buffer.take(bytesMax: .max).first)
    #expect(span.status?.code == .error)
    guard case .string(let found) = span.attributes.get("error.type") else {
      Issue.record("no type")
      return
    }
    #expect(found == type)
  }

  @Test("A context that is only passed on reaches upstream as it is")
  func passesContextsOn() async throws {
    let upstream = ScriptedUpstream(200, Self.json, #"{"data":{"film":null}}"#)
    let caller = try #require(TraceContext(traceparent: Self.parent))
    try await ServiceContext.withValue(ActiveTrace(caller).serviceContext) {
      try await execute(upstream)
    }
    #expect(try Self.field("traceparent", of: upstream) == Self.parent)
    #expect(try Self.field("tracestate", of: upstream) == nil)
  }

  @Test("Outside of a trace nothing is sent")
  func sendsNothing() async throws {
    let upstream = ScriptedUpstream(200, Self.json, #"{"data":{"film":null}}"#)
    try await execute(upstream)
    #expect(try Self.field("traceparent", of: upstream) == nil)
    #expect(tracer.buffer.count == 0)
  }

  @Test("The URL's query is not recorded: it can contain a key")
  func hidesTheQuery() async throws {
    let request = tracer.entry("GET", kind: .server, parent: nil, isSampled: true)
    let client = UpstreamClient(
      settings: UpstreamConfiguration(url: "https://up:8443/graphql?key=secret"),
      clock: ScriptedUpstream.clock
    ) { _, _ throws(HTTPClientError) in throw .connectTimedOut }
    let operation = try Samples.operation("query Film { film(id: 9) { title } }")
    await #expect(throws: UpstreamFailure.self) {
      try await request.during {
        _ = try await client.execute(operation, variables: .none, call: UpstreamCall())
      }
    }
    let span = try #require(tracer.buffer.take(bytesMax: .max).first)
    #expect(
      span.attributes == [
        "http.request.method": "POST", "url.full": "https://up:8443/graphql",
        "server.address": "up", "server.port": 8443, "larder.operation": "Film",
        "error.type": "not_sent",
      ])
  }
}
