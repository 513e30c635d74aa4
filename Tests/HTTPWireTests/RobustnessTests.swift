import HTTPWire
import TestSupport
import Testing

/// Damaged messages: whatever comes out, nothing traps, and cutting changes nothing.
struct RobustnessTests {
  @Test(
    "A damaged request has one outcome, however it is split",
    arguments: [0x91, 0x92, 0x93, 0x94])
  func damagedRequestsHaveOneReading(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for test in WireFixtures.requests where test.bytes.count < 4096 {
      let bytes = damaged([UInt8](test.bytes), &random)
      var whole = ServerSimulation()
      whole.receive(bytes[...])
      var pieces = ServerSimulation()
      for byte in bytes.indices { pieces.receive(bytes[byte...byte]) }
      #expect(whole.statuses == pieces.statuses, "\(test.id), seed \(seed)")
      #expect(whole.isClosed == pieces.isClosed, "\(test.id), seed \(seed)")
    }
  }

  @Test(
    "A damaged response has one outcome, however it is split",
    arguments: [0xA1, 0xA2, 0xA3, 0xA4])
  func damagedResponsesHaveOneReading(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for test in WireFixtures.responses where test.bytes.count < 4096 {
      let bytes = damaged([UInt8](test.bytes), &random)
      var whole = ClientSimulation(method: .get)
      whole.receive(bytes[...])
      var pieces = ClientSimulation(method: .get)
      for byte in bytes.indices { pieces.receive(bytes[byte...byte]) }
      #expect(whole.error == pieces.error, "\(test.id), seed \(seed)")
      #expect(whole.body == pieces.body, "\(test.id), seed \(seed)")
    }
  }

  /// Some bytes changed, left out or doubled.
  private func damaged(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...4, using: &random) where bytes.count > 1 {
      let index = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0...3, using: &random) {
      case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes.remove(at: index)
      case 2: bytes.insert(bytes[index], at: index)
      default: bytes[index] = [0x0A, 0x0D, 0x20, 0x3A].randomElement(using: &random) ?? 0x0A
      }
    }
    return bytes
  }
}
