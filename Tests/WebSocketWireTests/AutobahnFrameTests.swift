import TestSupport
import Testing

@testable import WebSocketWire

/// The cases of the Autobahn test suite, groups 1 to 5, 9 and 10: framing, pings, reserved bits and opcodes,
/// fragments and sizes. Each runs at both sides, in one piece and octet by octet.
struct AutobahnFrameTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let id: String
    let frames: [RawFrame]
    let outcomes: [PeerSimulation.Outcome]
    let testDescription: String

    init(_ id: String, _ frames: [RawFrame], _ outcomes: [PeerSimulation.Outcome]) {
      self.id = id
      self.frames = frames
      self.outcomes = outcomes
      testDescription = id
    }
  }

  static let lengths = [0, 125, 126, 127, 128, 65_535, 65_536]
  static let star = UInt8(ascii: "*")
  static let hello = Array("Hello, world!".utf8)
  static let binary: [UInt8] = [0x00, 0xFF, 0xFE, 0xFD, 0xFC, 0xFB, 0x00, 0xFF]

  static let sizes: [Case] = lengths.enumerated().flatMap { index, length in
    let payload = [UInt8](repeating: star, count: length)
    return [
      Case("1.1.\(index + 1)", [.text(payload)], [.text(payload)]),
      Case(
        "1.2.\(index + 1)", [.binary([UInt8](repeating: 0xFE, count: length))],
        [.binary([UInt8](repeating: 0xFE, count: length))]),
    ]
  }

  static let pings: [Case] = [
    Case("2.1", [.ping()], [.ping([])]),
    Case("2.2", [.ping(hello)], [.ping(hello)]),
    Case("2.3", [.ping(binary)], [.ping(binary)]),
    Case(
      "2.4", [.ping([UInt8](repeating: 0xFE, count: 125))],
      [.ping([UInt8](repeating: 0xFE, count: 125))]),
    Case(
      "2.5", [.ping([UInt8](repeating: 0xFE, count: 126))], [.failed(.controlFrameTooLong)]),
    Case("2.7", [.pong()], [.pong([])]),
    Case("2.8", [.pong(hello)], [.pong(hello)]),
    Case("2.9", [.pong(hello), .ping(binary)], [.pong(hello), .ping(binary)]),
    Case("2.10", (0..<10).map { .ping([$0]) }, (0..<10).map { .ping([$0]) }),
  ]

  /// One frame of each kind with each combination of reserved bits.
  static let reservedBits: [Case] = (1...7).map { bits in
    let opcode: UInt8 = [1, 1, 1, 1, 2, 9, 8][bits - 1]
    let faulty = RawFrame(opcode: opcode, payload: [], reserved: UInt8(bits))
    return Case("3.\(bits)", [.text("a"), faulty, .ping()], [.text("a"), .failed(.reservedBits)])
  }

  static let reservedOpcodes: [Case] = [3, 4, 5, 6, 7, 11, 12, 13, 14, 15].enumerated().map {
    index, opcode in
    Case(
      "4.\(index / 5 + 1).\(index % 5 + 1)",
      [.text("a"), RawFrame(opcode: UInt8(opcode), payload: index % 2 == 0 ? [] : hello), .ping()],
      [.text("a"), .failed(.reservedOpcode)])
  }

  private static func unfinished(_ opcode: UInt8) -> RawFrame {
    RawFrame(opcode: opcode, payload: Array("fragment1".utf8), isFinal: false)
  }

  static let fragments: [Case] = [
    Case("5.1", [unfinished(9), .more("2", isFinal: true)], [.failed(.fragmentedControlFrame)]),
    Case("5.2", [unfinished(10), .more("2", isFinal: true)], [.failed(.fragmentedControlFrame)]),
    Case("5.3", [unfinished(1), .more("2", isFinal: true)], [.text("fragment12")]),
    Case(
      "5.6", [unfinished(1), .ping(hello), .more("2", isFinal: true)],
      [.ping(hello), .text("fragment12")]),
    Case("5.9", [.more("x", isFinal: true), .text("y")], [.failed(.unexpectedContinuation)]),
    Case("5.12", [.more("x"), .text("y")], [.failed(.unexpectedContinuation)]),
    Case(
      "5.15", [unfinished(1), .more("2", isFinal: true), .more("3"), .text("4")],
      [.text("fragment12"), .failed(.unexpectedContinuation)]),
    Case("5.18", [unfinished(1), .text("2")], [.failed(.missingContinuation)]),
    Case("5.18 binary", [unfinished(1), .binary([2])], [.failed(.missingContinuation)]),
    Case(
      "5.19",
      [
        .text("f1", isFinal: false), .more("f2"), .ping([1]), .more("f3"), .ping([2]), .more("f4"),
        .more("f5", isFinal: true),
      ],
      [.ping([1]), .ping([2]), .text("f1f2f3f4f5")]),
  ]

  static let lengthForms: [Case] = [
    Case(
      "two bytes for 125",
      [RawFrame(opcode: 2, payload: [UInt8](repeating: 1, count: 125), lengthBytes: 2)],
      [.failed(.lengthNotMinimal)]),
    Case(
      "eight bytes for 65535",
      [RawFrame(opcode: 2, payload: [UInt8](repeating: 1, count: 65_535), lengthBytes: 8)],
      [.failed(.lengthNotMinimal)]),
    Case(
      "two bytes for 126",
      [RawFrame(opcode: 2, payload: [UInt8](repeating: 1, count: 126), lengthBytes: 2)],
      [.binary([UInt8](repeating: 1, count: 126))]),
  ]

  @Test(
    "Frames have the outcome of the Autobahn suite, at both sides and in any pieces",
    arguments: sizes + pings + reservedBits + reservedOpcodes + fragments + lengthForms)
  func framesHaveTheirOutcome(test: Case) {
    for role in [WebSocketRole.server, .client] {
      let bytes = (role == .server ? test.frames : test.frames.unmasked).bytes
      for pieceBytes in [bytes.count, 1, 997] {
        var peer = PeerSimulation(role)
        peer.receive(bytes, piecesOf: max(1, pieceBytes))
        #expect(peer.outcomes == test.outcomes, "\(test.id) at the \(role), by \(pieceBytes)")
      }
    }
  }

  @Test("Messages come back as they were sent, and pings as pongs")
  func messagesAndPingsAreAnswered() {
    var server = PeerSimulation(.server)
    server.receive([RawFrame.text("é"), .ping(Self.hello), .binary(Self.binary)].bytes)
    #expect(
      echo(of: server, by: .client) == [.text("é"), .pong(Self.hello), .binary(Self.binary)])
  }

  @Test("A fault is named in the close frame")
  func faultsAreNamedInTheCloseFrame() {
    for fault in WebSocketFault.allCases {
      #expect(WebSocketClose.canBeSent(fault.closeCode))
      #expect(fault.explanation.utf8.count <= WebSocketClose.reasonBytesMax)
    }
    var server = PeerSimulation(.server)
    server.receive(RawFrame(opcode: 3).bytes)
    #expect(
      echo(of: server, by: .client)
        == [.closed(WebSocketClose(code: 1002, reason: "a frame has a reserved opcode"))])
    let isOpen = server.isOpen
    #expect(!isOpen)
  }

  @Test("A server refuses unmasked frames and a client refuses masked ones")
  func masksAreChecked() {
    for opcode in [UInt8(1), 2, 8, 9, 10] {
      var server = PeerSimulation(.server)
      server.receive(RawFrame(opcode: opcode, mask: nil).bytes)
      #expect(server.outcomes == [.failed(.unmaskedFrame)])
      var client = PeerSimulation(.client)
      client.receive(RawFrame(opcode: opcode).bytes)
      #expect(client.outcomes == [.failed(.maskedFrame)])
    }
  }

  @Test("A length with its highest bit set is refused at that byte")
  func lengthsThatAreTooLargeAreRefused() {
    var server = PeerSimulation(.server)
    server.receive([0x82, 0xFF, 0x80])
    #expect(server.outcomes == [.failed(.lengthTooLarge)])
  }

  /// Autobahn's 9.1 to 9.6, and 10.1.1.
  @Test(
    "Large messages arrive whole, in one frame and in many",
    arguments: [64 << 10, 256 << 10, 1 << 20, 4 << 20], [Int.max, 256 << 10, 4096, 1300, 64])
  func largeMessagesArrive(size: Int, fragmentBytes: Int) {
    guard size / fragmentBytes <= 2048 else { return }
    let payload = [UInt8](repeating: Self.star, count: size)
    var frames: [RawFrame] = []
    var start = 0
    while start < size {
      let end = min(size, fragmentBytes == .max ? size : start + fragmentBytes)
      frames.append(
        RawFrame(
          opcode: frames.isEmpty ? 1 : 0, payload: Array(payload[start..<end]),
          isFinal: end == size, mask: nil))
      start = end
    }
    var client = PeerSimulation(.client)
    client.receive(frames.bytes, piecesOf: 64 << 10)
    #expect(client.outcomes == [.text(payload)])
  }

  @Test("A message above the limit is refused before its bytes arrive")
  func messagesAboveTheLimitAreRefused() {
    var limits = WebSocketLimits()
    limits.messageBytesMax = 1000
    var exact = PeerSimulation(.server, limits: limits)
    exact.receive(RawFrame.binary([UInt8](repeating: 1, count: 1000)).bytes)
    #expect(exact.outcomes == [.binary([UInt8](repeating: 1, count: 1000))])
    var whole = PeerSimulation(.server, limits: limits)
    // 100 MB, of which only the header arrives.
    whole.receive([0x82, 0xFF, 0, 0, 0, 0, 5, 0xF5, 0xE1, 0, 1, 2, 3, 4])
    #expect(whole.outcomes == [.failed(.messageTooLarge)])
    var parts = PeerSimulation(.server, limits: limits)
    let part = [UInt8](repeating: 1, count: 600)
    parts.receive([RawFrame.binary(part, isFinal: false), .more(part)].bytes)
    #expect(parts.outcomes == [.failed(.messageTooLarge)])
    #expect(
      echo(of: parts, by: .client)
        == [.closed(WebSocketClose(code: 1009, reason: "a message exceeds the size limit"))])
  }

  @Test("A message of one-byte fragments costs no more memory than its bytes")
  func oneByteFragmentsAreCheap() {
    var server = PeerSimulation(.server)
    server.receive(RawFrame.binary([0], isFinal: false).bytes)
    let fragment = RawFrame.more([7]).bytes
    let many = (0..<1000).flatMap { _ in fragment }
    for _ in 0..<20 { server.receive(many) }
    server.receive(RawFrame.more([UInt8](), isFinal: true).bytes)
    #expect(server.outcomes == [.binary([0] + [UInt8](repeating: 7, count: 20_000))])
  }
}
