import TestSupport
import Testing

@testable import Storage

struct RowSetTests {
  private static func place(_ generator: inout SeededGenerator) -> RowPlace {
    RowPlace(
      type: Int64.random(in: 0...2, using: &generator),
      row: Int64.random(in: 0...150, using: &generator) * [1, 1_000_003][Int(generator.next() % 2)])
  }

  @Test(
    "A RowSet behaves like a set",
    arguments: 1...10 as ClosedRange<UInt64>)
  func behavesLikeSet(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var rows = RowSet()
    var expected: Set<RowPlace> = []
    for _ in 0..<2000 {
      let place = Self.place(&generator)
      switch generator.next() % 4 {
      case 0: #expect(rows.remove(place) == (expected.remove(place) != nil), "seed \(seed)")
      case 1:
        let type = place.type
        let many = (0..<5).map { _ in Self.place(&generator).row }
        rows.insert(type: type, rows: many)
        expected.formUnion(many.map { RowPlace(type: type, row: $0) })
      default: #expect(rows.insert(place) == expected.insert(place).inserted, "seed \(seed)")
      }
      let other = Self.place(&generator)
      #expect(rows.contains(other) == expected.contains(other), "seed \(seed)")
    }
    for place in expected { rows.remove(place) }
    #expect(rows.wordCount == 0)
  }

  @Test(
    "A RowQueue returns each row once",
    arguments: 1...10 as ClosedRange<UInt64>)
  func queueReturnsEachRowOnce(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var queue = RowQueue()
    var waiting: Set<RowPlace> = []
    for _ in 0..<3000 {
      if generator.next() % 3 == 0 {
        let popped = queue.pop()
        #expect((popped == nil) == waiting.isEmpty, "seed \(seed)")
        if let popped { #expect(waiting.remove(popped) != nil, "seed \(seed)") }
      } else {
        let place = Self.place(&generator)
        queue.insert(place)
        waiting.insert(place)
      }
      #expect(queue.isEmpty == waiting.isEmpty)
    }
    while let popped = queue.pop() { #expect(waiting.remove(popped) != nil, "seed \(seed)") }
    #expect(waiting.isEmpty)
  }
}
