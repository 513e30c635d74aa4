import Synchronization
import TestSupport
import Testing
import Tracing
import Transport

@testable import Traces

struct SpanBufferTests {
  private final class Drops: Sendable {
    let count = Atomic(0)
  }

  private static func span(_ name: String = "span") -> SpanRecord {
    SpanRecord(
      context: TraceContext(
        traceID: TraceID { 1 }, spanID: SpanID { 1 }, isSampled: true), parent: nil,
      hasRemoteParent: false, name: name, kind: .internal, start: 1, end: 2, attributes: [:],
      links: [], status: nil)
  }

  @Test("Spans beyond the number are dropped and counted")
  func limitsTheCount() {
    let drops = Drops()
    let buffer = SpanBuffer(countMax: 3) { drops.count.add($0, ordering: .relaxed) }
    for number in 0..<5 { buffer.add(Self.span("\(number)")) }
    #expect(buffer.count == 3)
    #expect(drops.count.load(ordering: .relaxed) == 2)
    #expect(buffer.take(bytesMax: .max).map(\.name) == ["0", "1", "2"])
    buffer.add(Self.span("5"))
    #expect(buffer.take(bytesMax: .max).map(\.name) == ["5"])
  }

  @Test("Spans beyond the bytes are dropped, and removed ones make room")
  func limitsTheBytes() {
    let drops = Drops()
    let size = Self.span().byteCount
    let buffer = SpanBuffer(bytesMax: size * 2) { drops.count.add($0, ordering: .relaxed) }
    for _ in 0..<3 { buffer.add(Self.span()) }
    #expect(buffer.count == 2)
    #expect(drops.count.load(ordering: .relaxed) == 1)
    #expect(buffer.take(countMax: 1, bytesMax: .max).count == 1)
    buffer.add(Self.span())
    #expect(buffer.count == 2)
  }

  @Test("A batch is limited in number and bytes; a span larger than that comes alone")
  func limitsBatches() {
    let buffer = SpanBuffer { _ in }
    for _ in 0..<4 { buffer.add(Self.span()) }
    buffer.add(Self.span(String(repeating: "n", count: 5_000)))
    buffer.add(Self.span())
    let size = Self.span().byteCount
    #expect(buffer.take(countMax: 2, bytesMax: .max).count == 2)
    #expect(buffer.take(bytesMax: size * 2).count == 2)
    #expect(buffer.take(bytesMax: size).map(\.name.utf8.count) == [5_000])
    #expect(buffer.take(bytesMax: size).count == 1)
    #expect(buffer.take(bytesMax: size).isEmpty)
  }

  @Test("A full batch wakes the exporter once")
  func wakesForABatch() {
    let buffer = SpanBuffer { _ in }
    for _ in 0..<(SpanBuffer.batchMax - 1) { buffer.add(Self.span()) }
    #expect(buffer.isDue.count == 0)
    buffer.add(Self.span())
    buffer.add(Self.span())
    #expect(buffer.isDue.count == 1)
  }

  @Test("After the end spans are dropped")
  func refusesAfterTheEnd() {
    let drops = Drops()
    let buffer = SpanBuffer { drops.count.add($0, ordering: .relaxed) }
    buffer.add(Self.span())
    buffer.end()
    buffer.add(Self.span())
    #expect(buffer.hasEnded)
    #expect(buffer.count == 1)
    #expect(drops.count.load(ordering: .relaxed) == 1)
  }

  @Test("Spans of many tasks are all kept or counted", arguments: [1 as UInt64, 2])
  func countsUnderLoad(seed: UInt64) async {
    let drops = Drops()
    let buffer = SpanBuffer(countMax: 500) { drops.count.add($0, ordering: .relaxed) }
    let taken = Drops()
    await withTaskGroup { group in
      for task in 0..<8 {
        group.addTask {
          var generator = SeededGenerator(seed: seed &+ UInt64(task))
          for _ in 0..<500 {
            if Int.random(in: 0..<10, using: &generator) == 0 {
              taken.count.add(buffer.take(countMax: 20, bytesMax: .max).count, ordering: .relaxed)
            }
            buffer.add(Self.span())
          }
        }
      }
    }
    let rest = buffer.count
    #expect(rest <= 500)
    #expect(
      rest + taken.count.load(ordering: .relaxed) + drops.count.load(ordering: .relaxed) == 4_000)
  }
}
