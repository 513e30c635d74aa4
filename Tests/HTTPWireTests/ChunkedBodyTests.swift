import HTTPWire
import TestSupport
import Testing

struct ChunkedBodyTests {
  @Test(
    "Encoded chunks decode to the same content, however they are split",
    arguments: [0x81, 0x82, 0x83])
  func decodesEncodedContentInAnyPieces(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let content = (0..<Int.random(in: 0...300, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      var encoded: [UInt8] = []
      var rest = content[...]
      while !rest.isEmpty {
        let count = Int.random(in: 1...rest.count, using: &random)
        ChunkEncoder.append(rest.prefix(count), to: &encoded)
        rest = rest.dropFirst(count)
      }
      ChunkEncoder.appendEnd(to: &encoded)
      let cut = Int.random(in: 0...encoded.count, using: &random)
      let decoded = try decode([Array(encoded[..<cut]), Array(encoded[cut...])])
      #expect(decoded == content, "seed \(seed)")
    }
  }

  @Test(
    "A chunked body beyond a limit is refused",
    arguments: [
      (BodyLimits(bodyBytesMax: 4), "5\r\nhello\r\n0\r\n\r\n", BodyError.tooLarge),
      (BodyLimits(chunkSizeDigitsMax: 3), "0005\r\nhello\r\n", .malformedChunk),
      (BodyLimits(chunkExtensionBytesMax: 4), "5;abcdef\r\nhello\r\n", .chunkOverhead),
      (BodyLimits(trailerBytesMax: 8), "0\r\nX-Long: 1\r\n\r\n", .trailerTooLarge),
      (BodyLimits(trailerFieldsMax: 1), "0\r\nA: 1\r\nB: 2\r\n\r\n", .trailerTooLarge),
      (BodyLimits(), "0\r\nA : 1\r\n\r\n", .malformedTrailer),
    ])
  func enforcesLimits(limits: BodyLimits, text: String, expected: BodyError) {
    #expect(throws: expected) { try decode([Array(text.utf8)], limits: limits) }
  }

  @Test("A body of many tiny chunks is refused for its overhead")
  func refusesManyTinyChunks() {
    let text = String(repeating: "1;a=bbbbbbbbbbbbbbbbbbbb\r\nx\r\n", count: 2000)
    #expect(throws: BodyError.chunkOverhead) { try decode([Array(text.utf8)]) }
  }

  private func decode(
    _ pieces: [[UInt8]], limits: BodyLimits = BodyLimits()
  ) throws -> [UInt8] {
    var decoder = try BodyDecoder(framing: .chunked, limits: limits)
    var content: [UInt8] = []
    for piece in pieces {
      try piece.withUnsafeBytes { raw in
        var offset = 0
        while true {
          guard case .content(let range) = try decoder.next(raw, from: &offset) else { return }
          content += raw[range]
        }
      }
    }
    #expect(decoder.isAtEnd)
    return content
  }
}

struct ChunkEncoderTests {
  @Test(
    "Chunk sizes are written in hexadecimal",
    arguments: [
      (1, "1\r\n"), (15, "f\r\n"), (16, "10\r\n"), (255, "ff\r\n"), (65_536, "10000\r\n"),
    ])
  func writesSizesInHexadecimal(count: Int, expected: String) {
    var output: [UInt8] = []
    ChunkEncoder.appendHead(count: count, to: &output)
    #expect(String(decoding: output, as: UTF8.self) == expected)
  }

  @Test("Empty content is written as no chunk")
  func writesNoChunkForEmptyContent() {
    var output: [UInt8] = []
    ChunkEncoder.append([], to: &output)
    #expect(output.isEmpty)
  }
}
