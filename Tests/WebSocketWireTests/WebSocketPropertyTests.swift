import TestSupport
import Testing

@testable import WebSocketWire

/// Properties of the codec over random streams; a failure prints its seed.
struct WebSocketPropertyTests {
  @Test("A stream has one reading, however it is split", arguments: UInt64(1)...40)
  func splitsDoNotMatter(seed: UInt64) {
    var chance = FrameChance(seed: seed)
    let role: WebSocketRole = chance.percent(50) ? .server : .client
    var limits = WebSocketLimits()
    if chance.percent(30) { limits.messageBytesMax = 100 }
    let bytes = chance.stream(isMasked: role == .server)
    var whole = PeerSimulation(role, limits: limits)
    whole.receive(bytes)
    for _ in 0..<5 {
      var pieces = PeerSimulation(role, limits: limits)
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = rest.prefix(chance.number(1...20))
        pieces.receive(piece)
        rest = rest.dropFirst(piece.count)
      }
      #expect(whole.outcomes == pieces.outcomes, "seed \(seed)")
      #expect(whole.output == pieces.output, "seed \(seed)")
    }
  }

  @Test("What one side writes the other reads", arguments: UInt64(1)...30)
  func writtenMessagesAreRead(seed: UInt64) {
    var chance = FrameChance(seed: seed)
    let deflate = chance.deflate()
    for (writer, reader) in [(WebSocketRole.client, WebSocketRole.server), (.server, .client)] {
      var limits = WebSocketLimits()
      limits.deflate.messageBytesMin = chance.number(0...200)
      var sending = PeerSimulation(writer, limits: limits, deflate: deflate)
      var receiving = PeerSimulation(reader, limits: limits, deflate: deflate)
      var expected: [PeerSimulation.Outcome] = []
      for _ in 0..<12 {
        let isText = chance.percent(50)
        let bytes = chance.payload(upTo: chance.pick([10, 300, 70_000]) ?? 10)
        sending.send(isText ? .text(bytes) : .binary(bytes))
        expected.append(isText ? .text(bytes) : .binary(bytes))
      }
      receiving.receive(sending.output, piecesOf: chance.number(1...5000))
      #expect(receiving.outcomes == expected, "seed \(seed), \(writer) to \(reader)")
    }
  }

  @Test("Masking eight bytes at a time equals masking each byte", arguments: UInt64(1)...10)
  func maskingIsExact(seed: UInt64) {
    var chance = FrameChance(seed: seed)
    for _ in 0..<50 {
      let mask = UInt32.random(in: 0...(.max), using: &chance.generator)
      let offset = chance.number(0...9)
      let bytes = chance.payload(upTo: 40)
      var masked = bytes
      masked.withUnsafeMutableBytes { WebSocketMask.apply(mask, from: offset, to: $0) }
      let key = withUnsafeBytes(of: mask) { Array($0) }
      let expected = bytes.enumerated().map { $1 ^ key[(offset + $0) % 4] }
      #expect(masked == expected, "seed \(seed)")
    }
  }
}

extension FrameChance {
  /// Agreed parameters of compression, or none.
  mutating func deflate() -> WebSocketDeflate? {
    guard percent(80) else { return nil }
    var deflate = WebSocketDeflate()
    deflate.serverKeepsContext = percent(50)
    deflate.clientKeepsContext = percent(50)
    deflate.serverWindowBits = number(8...15)
    deflate.clientWindowBits = number(8...15)
    return deflate
  }
}
