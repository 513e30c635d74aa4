import Testing
import Tracing

@testable import Traces

struct SpanTests {
  private struct Fault: Error {}

  private let world = SpanWorld()
  private var tracer: SpanTracer { world.tracer }

  private static let caller = TraceContext(
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")

  @Test("The first span of a trace has a new id and no parent")
  func beginsATrace() throws {
    let span = tracer.entry("GET", kind: .server, parent: nil, isSampled: true)
    world.setTime(3_000)
    span.end()
    let record = try #require(world.recorded().first)
    #expect(record.parent == nil)
    #expect(!record.hasRemoteParent)
    #expect(record.name == "GET")
    #expect(record.kind == .server)
    #expect(record.start == 1_000)
    #expect(record.end == 3_000)
    #expect(record.context == span.trace)
    #expect(record.context.isSampled && record.context.isRandom)
    #expect(record.status == nil)
  }

  @Test("The span of a request continues its caller's trace")
  func continuesATrace() throws {
    var caller = try #require(Self.caller)
    caller.state = "a=1"
    tracer.entry("GET", kind: .server, parent: caller, isSampled: true).end()
    let record = try #require(world.recorded().first)
    #expect(record.context.traceID == caller.traceID)
    #expect(record.context.spanID != caller.spanID)
    #expect(record.context.state == "a=1")
    #expect(record.parent == caller.spanID)
    #expect(record.hasRemoteParent)
  }

  @Test("Spans within spans have the outer one as parent, and end before it")
  func nests() async throws {
    let span = tracer.entry("outer", kind: .server, parent: nil, isSampled: true)
    #expect(CurrentTrace.id == nil)
    await span.during {
      #expect(CurrentTrace.id == span.trace.traceID)
      await CurrentTrace.within("middle") { middle in
        #expect(CurrentTrace.active?.context == middle?.trace)
        await CurrentTrace.within("inner", kind: .client) { inner in
          inner?.set("depth", 2)
          await Task.yield()
        }
        #expect(CurrentTrace.span === middle)
      }
    }
    #expect(CurrentTrace.id == nil)
    let records = world.recorded()
    #expect(records.map(\.name) == ["inner", "middle", "outer"])
    #expect(Set(records.map(\.context.traceID)).count == 1)
    #expect(Set(records.map(\.context.spanID)).count == 3)
    #expect(records[0].parent == records[1].context.spanID)
    #expect(records[1].parent == records[2].context.spanID)
    #expect(records.allSatisfy { !$0.hasRemoteParent })
    #expect(records[0].attributes == ["depth": 2])
  }

  @Test("A thrown error marks its span, with the name of its type alone")
  func marksFailures() async {
    let span = tracer.entry("outer", kind: .server, parent: nil, isSampled: true)
    await #expect(throws: Fault.self) {
      try await span.during { () async throws(Fault) in
        try await CurrentTrace.within("inner") { _ throws(Fault) in throw Fault() }
      }
    }
    for record in world.recorded() {
      #expect(record.status?.code == .error)
      #expect(record.status?.message == nil)
      #expect(record.attributes == ["error.type": "Fault"])
    }
  }

  @Test("A more exact type of an error stays")
  func keepsTheExactFault() async throws {
    let span = tracer.entry("outer", kind: .server, parent: nil, isSampled: true)
    try? await span.during {
      span.fail("timeout")
      throw Fault()
    }
    #expect(world.recorded().first?.attributes == ["error.type": "timeout"])
  }

  @Test("Nothing is recorded of a trace that is not sampled, and its id is passed on")
  func recordsNothing() async throws {
    let span = tracer.entry("GET", kind: .server, parent: nil, isSampled: false)
    #expect(!span.isRecording)
    await span.during {
      #expect(CurrentTrace.id == span.trace.traceID)
      #expect(CurrentTrace.span == nil)
      await CurrentTrace.within("inner") { #expect($0 == nil) }
      var fields: [String: String] = [:]
      CurrentTrace.active?.context.inject { fields[$0] = $1 }
      #expect(fields == ["traceparent": span.trace.traceparent])
      #expect(span.trace.traceparent.hasSuffix("-02"))
    }
    span.set("name", "value")
    #expect(span.attributes == [:])
    #expect(world.recorded().isEmpty)
  }

  @Test("A span ends once, and changes nothing after that")
  func endsOnce() throws {
    let span = tracer.entry("GET", kind: .server, parent: nil, isSampled: true)
    #expect(span.isRecording)
    span.end(atNanoseconds: 2_000)
    #expect(!span.isRecording)
    span.set("late", 1)
    span.operationName = "late"
    span.fail("late")
    span.end(atNanoseconds: 9_000)
    let records = world.recorded()
    #expect(records.count == 1)
    #expect(records.first?.end == 2_000)
    #expect(records.first?.name == "GET")
    #expect(records.first?.attributes == [:])
  }

  @Test("A clock that is set back makes no negative duration")
  func hasNoNegativeDuration() {
    let span = tracer.entry("GET", kind: .server, parent: nil, isSampled: true)
    world.setTime(10)
    span.end()
    #expect(world.recorded().first?.end == 1_000)
  }

  @Test("Links and texts are limited")
  func limitsWhatItHolds() throws {
    let span = tracer.entry("GET", kind: .server, parent: nil, isSampled: true)
    let caller = try #require(Self.caller)
    for _ in 0..<100 { span.addLink(to: caller) }
    span.set("long", String(repeating: "é", count: 1_000))
    span.end()
    let record = try #require(world.recorded().first)
    #expect(record.links.count == 32)
    guard case .string(let text) = record.attributes.get("long") else {
      Issue.record("not a text")
      return
    }
    #expect(text == String(repeating: "é", count: 512))
    #expect(record.byteCount > 32 * 100 + 1_024)
  }

  @Test("A later span begins its own trace, links to its cause and is recorded if that was")
  func followsItsCause() throws {
    let caller = try #require(Self.caller)
    tracer.follow("attempt", kind: .consumer, cause: caller).end()
    let record = try #require(world.recorded().first)
    #expect(record.parent == nil)
    #expect(record.context.traceID != caller.traceID)
    #expect(record.links.map(\.context) == [caller])

    let unsampled = try #require(
      TraceContext(traceparent: String(caller.traceparent.dropLast()) + "0"))
    tracer.follow("attempt", kind: .consumer, cause: unsampled).end()
    #expect(world.recorded().isEmpty)
    tracer.follow("attempt", kind: .consumer, cause: nil).end()
    #expect(world.recorded().first?.links.isEmpty == true)
    let none = SpanWorld(share: 0)
    none.tracer.follow("attempt", kind: .consumer, cause: nil).end()
    #expect(none.recorded().isEmpty)
  }

  private struct Carrier: Injector, Extractor {
    func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) {
      carrier[key] = value
    }

    func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
  }

  @Test("Libraries that know swift-distributed-tracing use the tracer")
  func servesTheInterface() throws {
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    var context = ServiceContext.topLevel
    tracer.extract(["traceparent": parent, "tracestate": "a=1"], into: &context, using: Carrier())
    withTracer(tracer) {
      withSpan("library", context: context, ofKind: .client) { span in
        span.attributes["count"] = 3
        span.addLink(SpanLink(context: context, attributes: [:]))
        var carrier: [String: String] = [:]
        tracer.inject(span.context, into: &carrier, using: Carrier())
        #expect(carrier["traceparent"]?.hasPrefix("00-0af7651916cd43dd8448eb211c80319c-") == true)
        #expect(carrier["traceparent"] != parent)
        #expect(carrier["tracestate"] == "a=1")
      }
    }
    let record = try #require(world.recorded().first)
    #expect(record.name == "library")
    #expect(record.kind == .client)
    #expect(record.parent == Self.caller?.spanID)
    #expect(record.hasRemoteParent)
    #expect(record.attributes == ["count": 3])
    #expect(record.links.count == 1)
    var empty = ServiceContext.topLevel
    tracer.extract(["traceparent": "00-1-2-03"], into: &empty, using: Carrier())
    #expect(empty.trace == nil)
  }
}
