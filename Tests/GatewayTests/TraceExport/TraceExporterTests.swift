import HTTPClient
import HTTPTypes
import Logging
import LosslessJSON
import Model
import Synchronization
import TestSupport
import Testing
import Traces
import Tracing

@testable import Gateway

struct TraceExporterTests {
  @Test("Spans arrive in batches, each once")
  func exports() async throws {
    let collector = ScriptedCollector()
    let world = try ExportWorld(collector)
    world.exporter.start()
    for number in 0..<1_200 { world.span("span \(number)") }
    #expect(await eventuallyHolds { collector.names.count >= 1_024 })
    await world.exporter.end(within: .seconds(10))
    #expect(collector.names == (0..<1_200).map { "span \($0)" })
    #expect(collector.requests.allSatisfy { $0.names.count <= SpanBuffer.batchMax })
    let request = try #require(collector.requests.first?.request)
    #expect(request.method == .post)
    #expect(request.url.target == "/v1/traces")
    #expect(request.fields[.contentType] == "application/json")
    #expect(request.fields[.authorization] == "Bearer key")
    #expect(world.log.lines.isEmpty)
  }

  @Test("Few spans are exported after a time, without a full batch")
  func exportsAfterATime() async throws {
    let collector = ScriptedCollector()
    let world = try ExportWorld(collector)
    world.exporter.start()
    world.span("one")
    #expect(await eventuallyHolds { collector.names == ["one"] })
    await world.exporter.end(within: .seconds(10))
  }

  @Test("A batch is sent again after the pause that the collector asks for")
  func retries() async throws {
    let collector = ScriptedCollector([
      .success(.init(status: .serviceUnavailable, fields: [.retryAfter: "7"])),
      .failure(.connectTimedOut), .success(.init(status: .badGateway)),
    ])
    let world = try ExportWorld(collector)
    world.exporter.start()
    for number in 0..<SpanBuffer.batchMax { world.span("\(number)") }
    #expect(await eventuallyHolds { collector.requests.count == 4 })
    await world.exporter.end(within: .seconds(10))
    #expect(world.pauses.withLock { $0 } == [.seconds(7), .seconds(2), .seconds(4)])
    #expect(Set(collector.requests.map(\.names)).count == 1)
    #expect(world.log.lines.isEmpty)
  }

  @Test("What the collector refuses is dropped, counted and logged, and export goes on")
  func dropsRefused() async throws {
    let collector = ScriptedCollector([.success(.init(status: .badRequest))])
    let world = try ExportWorld(collector)
    world.exporter.start()
    for number in 0..<SpanBuffer.batchMax { world.span("\(number)") }
    #expect(await eventuallyHolds { collector.requests.count == 1 })
    world.span("later")
    await world.exporter.end(within: .seconds(10))
    #expect(collector.requests.count == 2)
    #expect(collector.requests.last?.names == ["later"])
    let line = try #require(world.log.lines.first?.pairs)
    #expect(line.contains("reason=failed") && line.contains("spans=512"), "\(line)")
    #expect(line.contains("status 400"), "\(line)")
  }

  @Test(
    "Rejected spans of an accepted batch are counted and not sent again",
    arguments: [#""3""#, "3"])
  func countsRejected(number: String) async throws {
    let body =
      #"{"partialSuccess":{"rejectedSpans":\#(number),"errorMessage":"too old\nand more"}}"#
    let collector = ScriptedCollector([.success(.init(status: .ok, body: Array(body.utf8)))])
    let world = try ExportWorld(collector)
    world.exporter.start()
    for number in 0..<SpanBuffer.batchMax { world.span("\(number)") }
    #expect(await eventuallyHolds { collector.requests.count == 1 })
    await world.exporter.end(within: .seconds(10))
    #expect(collector.requests.count == 1)
    let line = try #require(world.log.lines.first?.pairs)
    #expect(line.contains("reason=rejected") && line.contains("spans=3"), "\(line)")
    #expect(line.contains("too oldand more"), "\(line)")
  }

  @Test("A collector that is unavailable makes spans wait, and then drops the newest")
  func dropsTheNewest() async throws {
    let collector = ScriptedCollector(isAvailable: false)
    let world = try ExportWorld(collector, sleeps: false)
    world.exporter.start()
    for number in 0..<SpanBuffer.batchMax { world.span("\(number)") }
    // The first batch is under way, and waits for its second attempt.
    #expect(await eventuallyHolds { collector.requests.count == 1 })
    for number in 0..<(SpanBuffer.countMax + 5) { world.span("\(number)") }
    #expect(world.dropped.load(ordering: .relaxed) == 5)
    await world.exporter.end(within: .seconds(10))
    // At the end each batch had one more attempt.
    #expect(collector.requests.count == 2 + SpanBuffer.countMax / SpanBuffer.batchMax)
  }

  @Test("The end does not wait for a collector that hangs")
  func endsInTime() async throws {
    let collector = ScriptedCollector(hangs: true)
    let world = try ExportWorld(collector)
    world.exporter.start()
    for number in 0..<(SpanBuffer.batchMax + 2) { world.span("\(number)") }
    #expect(await eventuallyHolds { collector.requests.count == 1 })
    await world.exporter.end(within: .milliseconds(20))
    let reasons = world.log.lines.map(\.pairs).joined(separator: "\n")
    #expect(reasons.contains("reason=failed") && reasons.contains("spans=512"), "\(reasons)")
    #expect(reasons.contains("reason=ended") && reasons.contains("spans=2"), "\(reasons)")
  }

  @Test("An exporter that was never started drops what it has")
  func endsWithoutAStart() async throws {
    let world = try ExportWorld(ScriptedCollector())
    world.span("one")
    await world.exporter.end(within: .seconds(10))
    #expect(world.log.lines.first?.pairs.contains("spans=1") == true)
  }
}

extension RecordedLog.Line {
  /// `name=value`, sorted.
  fileprivate var pairs: String {
    metadata.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
  }
}

/// An exporter, the spans it takes, and what it logs.
private struct ExportWorld {
  let exporter: TraceExporter
  let tracer: SpanTracer
  let log = RecordedLog()
  let pauses: Pauses
  let dropped: Drops

  final class Pauses: Sendable {
    private let all = Mutex<[Duration]>([])

    func withLock<Value: Sendable>(_ body: (inout [Duration]) -> Value) -> Value {
      all.withLock { body(&$0) }
    }
  }

  final class Drops: Sendable {
    private let count = Atomic(0)

    func add(_ number: Int) { count.add(number, ordering: .relaxed) }
    func load(ordering: AtomicLoadOrdering) -> Int { count.load(ordering: .relaxed) }
  }

  /// - Parameter sleeps: false makes pauses last until the end.
  init(_ collector: ScriptedCollector, sleeps: Bool = true) throws {
    let (pauses, dropped) = (Pauses(), Drops())
    self.pauses = pauses
    self.dropped = dropped
    let clock = WallClock { Timestamp(milliseconds: 1_700_000_000_000) }
    let buffer = SpanBuffer { dropped.add($0) }
    let numbers = SpanNumbers()
    tracer = SpanTracer(
      ratio: SamplingRatio(1), buffer: buffer, random: { numbers.next() }, clock: { 5 })
    exporter = TraceExporter(
      buffer,
      to: TraceExporter.Destination(
        url: try HTTPURL("http://collector:4318/v1/traces"),
        headers: [.authorization: "Bearer key"]),
      resource: TraceResource(name: "larder", version: "1", instance: "i"),
      meters: TraceMeters(clock: clock, logger: log.logger), clock: clock, chance: { 1 },
      sleep: { pause in
        pauses.withLock { $0.append(pause) }
        if !sleeps { try await Task.sleep(for: .seconds(3_600)) }
      }, send: collector.send)
  }

  func span(_ name: String) {
    tracer.entry(name, kind: .server, parent: nil, isSampled: true).end()
  }
}

/// Ids that count up.
final class SpanNumbers: Sendable {
  private let last = Atomic<UInt64>(0)

  func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}

/// A collector that responds as a test says, and with 200 after that.
private final class ScriptedCollector: Sendable {
  struct Request: Sendable {
    let request: HTTPClientRequest
    /// The names of its spans.
    let names: [String]
  }

  private struct State {
    var answers: [Result<HTTPClientResponse, HTTPClientError>]
    var requests: [Request] = []
  }

  private let state: Mutex<State>
  private let isAvailable: Bool
  private let hangs: Bool

  init(
    _ answers: [Result<HTTPClientResponse, HTTPClientError>] = [], isAvailable: Bool = true,
    hangs: Bool = false
  ) {
    state = Mutex(State(answers: answers))
    self.isAvailable = isAvailable
    self.hangs = hangs
  }

  var requests: [Request] { state.withLock { $0.requests } }
  var names: [String] { requests.flatMap(\.names) }

  var send: TraceExporter.Send {
    { request, _ throws(HTTPClientError) in
      let body = try? JSONValue(parsing: request.body)
      let spans = body?["resourceSpans"]?.array?.first?["scopeSpans"]?.array?.first?["spans"]
      let seen = Request(
        request: request, names: (spans?.array ?? []).compactMap { $0["name"]?.string })
      let answer = self.state.withLock { state in
        state.requests.append(seen)
        return state.answers.isEmpty ? nil : state.answers.removeFirst()
      }
      if self.hangs {
        try? await Task.sleep(for: .seconds(3_600))
        throw .cancelled(wasSent: true)
      }
      guard self.isAvailable else { throw .connectTimedOut }
      return try answer?.get() ?? HTTPClientResponse(status: .ok, body: Array("{}".utf8))
    }
  }
}
