import TestSupport
import Testing

@testable import WebSocketWire

/// permessage-deflate (RFC 7692): its examples, Autobahn's groups 12 and 13, and compressed bombs.
struct WebSocketDeflateTests {
  private static let hello = Array("Hello".utf8)

  private func compressed(_ payload: [UInt8], isFinal: Bool = true) -> RawFrame {
    RawFrame(opcode: 1, payload: payload, isFinal: isFinal, reserved: 4)
  }

  private func outcomes(
    _ frames: [RawFrame], _ deflate: WebSocketDeflate = WebSocketDeflate()
  ) -> [PeerSimulation.Outcome] {
    var peer = PeerSimulation(.server, deflate: deflate)
    peer.receive(frames.bytes)
    var octets = PeerSimulation(.server, deflate: deflate)
    octets.receive(frames.bytes, piecesOf: 1)
    #expect(peer.outcomes == octets.outcomes)
    return peer.outcomes
  }

  /// Section 7.2.3.
  @Test("The examples of RFC 7692 are read")
  func readsTheExamples() {
    let one: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
    #expect(outcomes([compressed(one)]) == [.text("Hello")])
    #expect(
      outcomes([
        compressed(Array(one[..<3]), isFinal: false), .more(Array(one[3...]), isFinal: true),
      ]) == [.text("Hello")])
    // The second message refers to the first.
    #expect(
      outcomes([compressed(one), compressed([0xF2, 0x00, 0x11, 0x00, 0x00])])
        == [.text("Hello"), .text("Hello")])
    // A block without compression, one marked as the last, and two blocks.
    #expect(
      outcomes([compressed([0x00, 0x05, 0x00, 0xFA, 0xFF] + Self.hello + [0x00])])
        == [.text("Hello")])
    let last: [UInt8] = [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]
    #expect(outcomes([compressed(last), compressed(one)]) == [.text("Hello"), .text("Hello")])
    #expect(
      outcomes([
        compressed([0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00])
      ]) == [.text("Hello")])
    #expect(outcomes([compressed([0x00])]) == [.text("")])
  }

  @Test("Without context a message cannot refer to an earlier one")
  func withoutContextMessagesStandAlone() {
    var deflate = WebSocketDeflate()
    deflate.clientKeepsContext = false
    let one: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
    #expect(
      outcomes([compressed(one), compressed([0xF2, 0x00, 0x11, 0x00, 0x00])], deflate)
        == [.text("Hello"), .failed(.malformedDeflate)])
  }

  /// Found by fuzzing: zlib accepts such references or not, depending on how the input is split.
  @Test("A reference beyond the agreed window has one reading, however it is split")
  func windowsDoNotDependOnSplits() {
    var deflate = WebSocketDeflate()
    deflate.clientWindowBits = 15
    var limits = WebSocketLimits()
    limits.deflate.messageBytesMin = 0
    var writer = PeerSimulation(.client, limits: limits, deflate: deflate)
    var chance = FrameChance(seed: 1)
    let part = (0..<1500).map { _ in UInt8(chance.number(0x20...0x7E)) }
    writer.send(.text(part + part))
    deflate.clientWindowBits = 9
    for pieceBytes in [1, 100, 1 << 20] {
      var reader = PeerSimulation(.server, deflate: deflate)
      reader.receive(writer.output, piecesOf: pieceBytes)
      #expect(reader.outcomes == [.text(part + part)])
    }
  }

  @Test("Data that is not deflate is refused, and so is RSV1 where it has no meaning")
  func malformedDataIsRefused() {
    #expect(outcomes([compressed([0xFF, 0xFF, 0xFF])]) == [.failed(.malformedDeflate)])
    let continued = RawFrame(opcode: 0, payload: [0], reserved: 4)
    #expect(
      outcomes([compressed([0xF2], isFinal: false), continued]) == [.failed(.reservedBits)])
    #expect(outcomes([RawFrame(opcode: 9, reserved: 4)]) == [.failed(.reservedBits)])
    var plain = PeerSimulation(.server)
    plain.receive(compressed([0]).bytes)
    #expect(plain.outcomes == [.failed(.reservedBits)])
  }

  @Test("Compressed text is validated as it is decompressed")
  func compressedTextIsValidated() {
    // A stored block of two bytes, whose message never ends.
    let invalid = compressed([0x00, 0x02, 0x00, 0xFD, 0xFF, 0xC0, 0x80], isFinal: false)
    #expect(outcomes([invalid]) == [.failed(.invalidUTF8)])
  }

  @Test("A decompression bomb ends at the limit")
  func bombsEndAtTheLimit() throws {
    for (size, fault) in [(3 << 20, WebSocketFault.deflateRatio), (600, .messageTooLarge)] {
      var limits = WebSocketLimits()
      limits.messageBytesMax = fault == .deflateRatio ? 4 << 20 : 500
      limits.deflate.messageBytesMin = 0
      limits.deflate.messageBytesMax = .max
      var writer = PeerSimulation(.client, limits: limits, deflate: WebSocketDeflate())
      writer.send(.binary([UInt8](repeating: 0, count: size)))
      #expect(writer.output.count < size / 20 + 40)
      var reader = PeerSimulation(.server, limits: limits, deflate: WebSocketDeflate())
      reader.receive(writer.output)
      #expect(reader.outcomes == [.failed(fault)])
    }
  }

  /// Groups 12 and 13: sizes and kinds of content under the agreed parameters.
  @Test(
    "Messages survive compression under all parameters",
    arguments: [(true, 15), (true, 9), (false, 15), (false, 9), (true, 8)], [16, 1024, 65_536])
  func messagesSurviveCompression(parameters: (keepsContext: Bool, bits: Int), size: Int) {
    var deflate = WebSocketDeflate()
    deflate.clientKeepsContext = parameters.keepsContext
    deflate.serverKeepsContext = parameters.keepsContext
    deflate.clientWindowBits = parameters.bits
    deflate.serverWindowBits = parameters.bits
    var limits = WebSocketLimits()
    limits.deflate.messageBytesMin = 0
    var client = PeerSimulation(.client, limits: limits, deflate: deflate)
    var server = PeerSimulation(.server, limits: limits, deflate: deflate)
    var chance = FrameChance(seed: UInt64(size))
    var expected: [PeerSimulation.Outcome] = []
    for round in 0..<8 {
      let list = Array(#"[{"id":"film-\#(round)","title":"A title","year":1999},"#.utf8)
      let content = (0..<size).map { index in
        round % 4 == 3 ? UInt8(chance.number(0x20...0x7E)) : list[index % list.count]
      }
      client.send(.text(content))
      expected.append(.text(content))
    }
    server.receive(client.output, piecesOf: 999)
    #expect(server.outcomes == expected)
    // What the server echoes comes back the same.
    var reader = PeerSimulation(.client, limits: limits, deflate: deflate)
    reader.receive(server.output, piecesOf: 4096)
    #expect(reader.outcomes == expected)
    // zlib has no window of 256 bytes to write with, so nothing is compressed with it.
    if size >= 1024, parameters.bits > 8 {
      #expect(client.output.count < 8 * size * 3 / 4)
    }
  }
}
