import TestSupport
import Testing

@testable import Transport

struct OutputQueueTests {
  @Test(
    "Partial writes keep order and byte count",
    arguments: 0..<10 as Range<UInt64>)
  func keepsOrderAndCountThroughPartialWrites(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var queue = OutputQueue()
    let source = pattern(2 * 9000)
    var written: [UInt8] = []
    var sent: [UInt8] = []
    for _ in 0..<200 {
      let size = Int.random(in: 0..<9000, using: &generator)
      let offset = Int.random(in: 0..<4093, using: &generator)
      let bytes = Array(source[offset..<offset + size])
      let start = Int.random(in: 0...size, using: &generator)
      if Bool.random(using: &generator) {
        queue.append(bytes, from: start)
      } else {
        bytes[start...].withUnsafeBytes { queue.append($0) }
      }
      written += bytes[start...]
      if let head = queue.head, case .bytes(let bytes, let start) = head {
        let count = Int.random(in: 1...(bytes.count - start), using: &generator)
        sent += bytes[start..<(start + count)]
        queue.consume(count)
      }
      #expect(queue.byteCount == written.count - sent.count, "seed \(seed)")
    }
    while let head = queue.head, case .bytes(let bytes, let start) = head {
      sent += bytes[start...]
      queue.consume(bytes.count - start)
    }
    #expect(sent == written, "seed \(seed)")
    #expect(queue.isEmpty)
  }
}
