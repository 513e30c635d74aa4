import TestSupport
import Testing

@testable import WebSocketWire

/// The cases of the Autobahn test suite, group 6: UTF-8.
struct AutobahnTextTests {
  /// Byte sequences by group; Swift's own validation says which are valid.
  static let sequences: [(id: String, bytes: [UInt8])] = [
    ("6.2", Array("Hello-µ@ßöäüàá-UTF-8!!".utf8)),
    ("6.3", [0xCE, 0xBA, 0xE1, 0xBD, 0xB9, 0xED, 0xA0, 0x80, 0x65]),
    ("6.5", Array("κόσμε".utf8)),
    ("6.6", [0xCE]), ("6.6 two", [0xCE, 0xBA, 0xE1]), ("6.6 three", [0xCE, 0xBA, 0xE1, 0xBD]),
    ("6.7 one", [0x00]), ("6.7 two", [0xC2, 0x80]), ("6.7 three", [0xE0, 0xA0, 0x80]),
    ("6.7 four", [0xF0, 0x90, 0x80, 0x80]),
    ("6.8 five", [0xF8, 0x88, 0x80, 0x80, 0x80]),
    ("6.8 six", [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80]),
    ("6.9 one", [0x7F]), ("6.9 two", [0xDF, 0xBF]), ("6.9 three", [0xEF, 0xBF, 0xBF]),
    ("6.9 four", [0xF4, 0x8F, 0xBF, 0xBF]),
    ("6.10 four", [0xF7, 0xBF, 0xBF, 0xBF]), ("6.10 five", [0xFB, 0xBF, 0xBF, 0xBF, 0xBF]),
    ("6.11 before surrogates", [0xED, 0x9F, 0xBF]), ("6.11 after", [0xEE, 0x80, 0x80]),
    ("6.11 replacement", [0xEF, 0xBF, 0xBD]), ("6.11 last", [0xF4, 0x8F, 0xBF, 0xBF]),
    ("6.11 beyond", [0xF4, 0x90, 0x80, 0x80]),
    ("6.12 one", [0x80]), ("6.12 last", [0xBF]), ("6.12 three", [0x80, 0xBF, 0x80]),
    ("6.13 lonely", [0xC0, 0x20, 0xC1, 0x20]), ("6.13 three", [0xE0, 0x20]),
    ("6.13 four", [0xF0, 0x20]), ("6.13 five", [0xF8, 0x20]),
    ("6.14 two", [0xC2]), ("6.14 three", [0xE0, 0xA0]), ("6.14 four", [0xF0, 0x90, 0x80]),
    ("6.15", [0xC0, 0xE0, 0x80, 0xF0, 0x80, 0x80, 0xF8, 0x80, 0x80, 0x80]),
    ("6.16", [0xFE]), ("6.16 last", [0xFF]), ("6.16 four", [0xFE, 0xFE, 0xFF, 0xFF]),
    ("6.17 two", [0xC0, 0xAF]), ("6.17 three", [0xE0, 0x80, 0xAF]),
    ("6.17 four", [0xF0, 0x80, 0x80, 0xAF]),
    ("6.18 two", [0xC1, 0xBF]), ("6.18 three", [0xE0, 0x9F, 0xBF]),
    ("6.18 four", [0xF0, 0x8F, 0xBF, 0xBF]),
    ("6.19 zero", [0xC0, 0x80]), ("6.19 zero in three", [0xE0, 0x80, 0x80]),
    ("6.20 first", [0xED, 0xA0, 0x80]), ("6.20 last high", [0xED, 0xAF, 0xBF]),
    ("6.20 low", [0xED, 0xB0, 0x80]), ("6.20 last", [0xED, 0xBF, 0xBF]),
    ("6.21 pair", [0xED, 0xA0, 0x80, 0xED, 0xB0, 0x80]),
    ("6.22 nonchar", [0xEF, 0xBF, 0xBE]), ("6.22 plane 1", [0xF0, 0x9F, 0xBF, 0xBE]),
    ("6.23", Array("\u{FFFD}\u{FFFC}".utf8)),
  ]

  @Test("Text is refused exactly if it is not UTF-8", arguments: sequences)
  func textIsValidated(id: String, bytes: [UInt8]) {
    let isValid = String(validating: bytes, as: UTF8.self) != nil
    let expected: [PeerSimulation.Outcome] = isValid ? [.text(bytes)] : [.failed(.invalidUTF8)]
    var whole = PeerSimulation(.server)
    whole.receive(RawFrame.text(bytes).bytes)
    #expect(whole.outcomes == expected, "\(id)")
    // Each octet a fragment, and each of those octet by octet.
    let fragments =
      [RawFrame.text([UInt8](), isFinal: false)] + bytes.map { .more([$0]) }
      + [.more([UInt8](), isFinal: true)]
    var pieces = PeerSimulation(.server)
    pieces.receive(fragments.bytes, piecesOf: 1)
    #expect(pieces.outcomes == expected, "\(id) in fragments")
  }

  /// Autobahn's 6.4: the end of the message is never sent.
  @Test("Invalid text is refused at its first wrong byte")
  func invalidTextIsRefusedEarly() {
    let valid: [UInt8] = [0xCE, 0xBA, 0xE1, 0xBD, 0xB9]
    var fragments = PeerSimulation(.server)
    fragments.receive(RawFrame.text(valid, isFinal: false).bytes)
    #expect(fragments.outcomes.isEmpty)
    fragments.receive(RawFrame.more([0xF4, 0x90]).bytes)
    #expect(fragments.outcomes == [.failed(.invalidUTF8)])
    var octets = PeerSimulation(.server)
    let frame = RawFrame.text(valid + [0xF4, 0x90, 0x80, 0x80]).bytes
    octets.receive(frame.prefix(6 + 7), piecesOf: 1)
    #expect(octets.outcomes == [.failed(.invalidUTF8)])
  }

  @Test("Text split within a character is whole, and binary is not validated")
  func splitCharactersAreWhole() {
    var peer = PeerSimulation(.server)
    peer.receive(
      [
        RawFrame.text([0xF0, 0x9F], isFinal: false), .ping([1]), .more([0x8E]),
        .more([0xAC], isFinal: true), .binary([0xFF, 0xC0]),
      ].bytes)
    #expect(peer.outcomes == [.ping([1]), .text("🎬"), .binary([0xFF, 0xC0])])
  }

  @Test("Validation agrees with Swift's, for any bytes in any pieces", arguments: UInt64(1)...20)
  func validationAgreesWithSwift(seed: UInt64) {
    var chance = FrameChance(seed: seed)
    let parts: [[UInt8]] =
      Self.sequences.map(\.bytes) + [Array("abcdefgh".utf8), Array("ij".utf8), [0x80]]
    for _ in 0..<300 {
      let bytes = (0..<chance.number(1...5)).flatMap { _ in chance.pick(parts) ?? [] }
      var progress = UTF8Progress()
      var isValid = true
      var rest = bytes[...]
      while isValid, !rest.isEmpty {
        let piece = Array(rest.prefix(chance.number(1...12)))
        rest = rest.dropFirst(piece.count)
        isValid = piece.withUnsafeBytes { progress.accept($0) }
      }
      let reference = String(validating: bytes, as: UTF8.self) != nil
      #expect((isValid && progress.isComplete) == reference, "\(bytes), seed \(seed)")
    }
  }
}

extension PeerSimulation {
  mutating func receive(_ bytes: ArraySlice<UInt8>, piecesOf count: Int) {
    receive(Array(bytes), piecesOf: count)
  }
}
