import S3Wire
import TestSupport
import Testing

/// Decoding of `aws-chunked` content: the examples of the S3 API reference, errors, and any split.
struct AWSChunkedDecoderTests {
  /// The decoded content, chunk by chunk.
  private struct Reading: Equatable {
    var content: [UInt8] = []
    var chunks: [Int] = []
    var signatures: [String] = []
    var ended = 0
    var trailers: [AWSChunkedTrailer] = []
    var trailerSignature: String?
    var error: AWSChunkedError?
  }

  private static func read(
    _ pieces: [ArraySlice<UInt8>], _ form: AWSChunkedForm, byteCount: Int
  ) -> Reading {
    var decoder = AWSChunkedDecoder(form, byteCount: byteCount)
    var reading = Reading()
    do throws(AWSChunkedError) {
      for piece in pieces {
        var piece = piece
        while let event = try decoder.next(&piece) { note(event, in: &reading) }
        #expect(piece.isEmpty)
      }
      try decoder.finish()
    } catch {
      reading.error = error
    }
    return reading
  }

  private static func note(_ event: AWSChunkedEvent, in reading: inout Reading) {
    switch event {
    case .chunk(let bytes, let signature):
      reading.chunks.append(bytes)
      if let signature { reading.signatures.append(signature) }
    case .content(let bytes):
      #expect(!bytes.isEmpty)
      reading.content += bytes
    case .chunkEnd: reading.ended += 1
    case .trailers(let trailers, let signature):
      reading.trailers = trailers
      reading.trailerSignature = signature
    case .end: break
    }
  }

  private static func read(_ text: String, _ form: AWSChunkedForm, byteCount: Int) -> Reading {
    read([Array(text.utf8)[...]], form, byteCount: byteCount)
  }

  private static let chunkSignatures = [
    "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
    "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
    "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
  ]

  /// 66,560 letters in chunks of 65,536 and 1,024, with the signatures of the S3 API reference.
  private static var example: [UInt8] {
    var bytes: [UInt8] = []
    for (size, signature) in zip([65_536, 1024, 0], chunkSignatures) {
      bytes += "\(String(size, radix: 16));chunk-signature=\(signature)\r\n".utf8
      bytes += [UInt8](repeating: UInt8(ascii: "a"), count: size) + Array("\r\n".utf8)
    }
    return bytes
  }

  @Test("The example of the S3 API reference is decoded")
  func decodesReferenceExample() {
    let bytes = Self.example
    // The `Content-Length` of the example.
    #expect(bytes.count == 66_824)
    let reading = Self.read([bytes[...]], .signed, byteCount: 66_560)
    #expect(reading.error == nil)
    #expect(reading.content == [UInt8](repeating: UInt8(ascii: "a"), count: 66_560))
    #expect(reading.chunks == [65_536, 1024, 0])
    #expect(reading.signatures == Self.chunkSignatures)
    #expect(reading.ended == 3)
    #expect(reading.trailers.isEmpty)
  }

  @Test("A signed trailer is decoded")
  func decodesSignedTrailer() {
    let signature = String(repeating: "d", count: 64)
    let trailerSignature = "826f649eda25f72cfae95a0d30264b0e24829ece4aed0060a40dd6518ee2b2ca"
    let reading = Self.read(
      "3;chunk-signature=\(signature)\r\nabc\r\n0;chunk-signature=\(signature)\r\n"
        + "First:1st\r\nsecond: 2nd\n\r\nx-amz-trailer-signature:\(trailerSignature)\r\n\r\n",
      .signedWithTrailer, byteCount: 3)
    #expect(reading.error == nil)
    #expect(reading.content == Array("abc".utf8))
    #expect(
      reading.trailers == [
        AWSChunkedTrailer(name: "first", value: "1st"),
        AWSChunkedTrailer(name: "second", value: "2nd"),
      ])
    #expect(reading.trailerSignature == trailerSignature)
  }

  @Test("An unsigned trailer is decoded")
  func decodesUnsignedTrailer() {
    let reading = Self.read(
      "B\r\nhello world\r\n0\r\nx-amz-checksum-crc32:DUoRhQ==\r\n\r\n", .unsignedWithTrailer,
      byteCount: 11)
    #expect(reading.error == nil)
    #expect(reading.content == Array("hello world".utf8))
    #expect(
      reading.trailers == [
        AWSChunkedTrailer(name: "x-amz-checksum-crc32", value: "DUoRhQ==")
      ])
    #expect(reading.trailerSignature == nil)
  }

  private static let signature = String(repeating: "0", count: 64)

  @Test(
    "Malformed chunks and trailers are refused",
    arguments: [
      ("g\r\n", .malformedChunkLine), ("\r\n", .malformedChunkLine),
      ("3 \r\n", .malformedChunkLine),
      ("+3\r\nabc\r\n0\r\n\r\n", .malformedChunkLine), ("3;x=1\r\n", .malformedChunkLine),
      ("11111111111111111\r\n", .malformedChunkLine), ("ffffffffffffffff\r\n", .malformedChunkLine),
      ("7fffffffffffffff\r\n", .tooMuchContent), ("4\r\nabcd", .tooMuchContent),
      ("3\r\nabcd\r\n", .malformedChunkEnd), ("3\r\nabc\rx", .malformedChunkEnd),
      ("2\r\nab\r\n0\r\n", .tooLittleContent), ("3\r\nabc\r\n", .unfinished), ("", .unfinished),
      ("3\r\nabc\r\n0\r\nx-a:1\r\n", .unfinished), ("3\r\nabc\r\n0\r\nx-a\r\n", .malformedTrailer),
      ("3\r\nabc\r\n0\r\n:1\r\n", .malformedTrailer),
      ("3\r\nabc\r\n0\r\na:1\r\nA:2\r\n", .malformedTrailer),
      ("3\r\nabc\r\n0\r\na:\u{7}\r\n", .malformedTrailer),
      ("3\r\nabc\r\n0\r\n\r\nx", .contentAfterEnd),
      (String(repeating: "0", count: 300), .lineTooLong),
    ] as [(String, AWSChunkedError)])
  func refusesMalformedContent(_ text: String, _ error: AWSChunkedError) {
    #expect(Self.read(text, .unsignedWithTrailer, byteCount: 3).error == error)
  }

  @Test(
    "A signed form without a valid chunk signature is refused",
    arguments: [
      ("3\r\nabc\r\n", .malformedChunkLine),
      ("3;chunk-signature=12\r\nabc\r\n", .malformedChunkLine),
      ("3;chunk-signature=\(signature)x\r\nabc\r\n", .malformedChunkLine),
      ("3;chunk-signature=\(String(repeating: "x", count: 64))\r\n", .malformedChunkLine),
    ] as [(String, AWSChunkedError)], [AWSChunkedForm.signed, .signedWithTrailer])
  func refusesUnsignedChunks(_ fault: (String, AWSChunkedError), _ form: AWSChunkedForm) {
    #expect(Self.read(fault.0, form, byteCount: 3).error == fault.1)
  }

  @Test("A signed trailer without its signature is refused")
  func refusesTrailersWithoutSignature() {
    let last = "0;chunk-signature=\(Self.signature)\r\n"
    let signed = "x-amz-trailer-signature:\(Self.signature)\r\n"
    for (text, error) in [
      (last + "a:1\r\n\r\n", AWSChunkedError.trailerSignatureMissing),
      (last + "\r\n", .trailerSignatureMissing),
      (last + signed + "a:1\r\n\r\n", .trailerSignatureMissing),
      (last + "x-amz-trailer-signature:12\r\n\r\n", .malformedTrailer),
    ] {
      #expect(Self.read(text, .signedWithTrailer, byteCount: 0).error == error)
    }
    #expect(Self.read(last + "a:1\r\n\r\n", .signed, byteCount: 0).error == .malformedChunkEnd)
  }

  @Test("The number and the length of trailer fields are bounded")
  func boundsTrailers() {
    let many = (0...AWSChunkedDecoder.trailersMax).map { "a\($0):1\r\n" }.joined()
    let long = "a:" + String(repeating: "1", count: AWSChunkedDecoder.trailerLineBytesMax)
    #expect(
      Self.read("0\r\n\(many)\r\n", .unsignedWithTrailer, byteCount: 0).error == .tooManyTrailers)
    #expect(
      Self.read("0\r\n\(long)\r\n\r\n", .unsignedWithTrailer, byteCount: 0).error == .lineTooLong)
  }

  /// Covers complete, truncated and damaged content.
  @Test(
    "Content is decoded the same in pieces of any size",
    arguments: AWSChunkedForm.allCases)
  func decodesPiecesOfAnySize(_ form: AWSChunkedForm) {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    for round in 0..<200 {
      var (bytes, content) = Self.make(form, &random)
      if round % 4 == 1 { bytes.removeLast(Int.random(in: 1...bytes.count, using: &random)) }
      if round % 4 == 2 {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
          in: 0...255, using: &random)
      }
      let whole = Self.read([bytes[...]], form, byteCount: content.count)
      if round % 4 == 0 || round % 4 == 3 {
        #expect(whole.error == nil && whole.content == content, "seed \(seed), round \(round)")
      }
      var pieces: [ArraySlice<UInt8>] = []
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = Int.random(in: 1...(Bool.random(using: &random) ? 3 : 400), using: &random)
        pieces.append(rest.prefix(count))
        rest = rest.dropFirst(count)
      }
      let cut = Self.read(pieces, form, byteCount: content.count)
      #expect(cut == whole, "seed \(seed), round \(round)")
    }
  }

  private static func make(
    _ form: AWSChunkedForm, _ random: inout SeededGenerator
  ) -> (bytes: [UInt8], content: [UInt8]) {
    var bytes: [UInt8] = []
    var content: [UInt8] = []
    func digits() -> String {
      String((0..<64).map { _ in "0123456789abcdef".randomElement(using: &random) ?? "0" })
    }
    for isLast in (0..<Int.random(in: 0...5, using: &random)).map({ _ in false }) + [true] {
      let size = isLast ? 0 : Int.random(in: 1...900, using: &random)
      let chunk = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
      content += chunk
      bytes += String(size, radix: 16).utf8
      if form != .unsignedWithTrailer { bytes += ";chunk-signature=\(digits())".utf8 }
      bytes += "\r\n".utf8
      bytes += chunk
      if !isLast { bytes += "\r\n".utf8 }
    }
    if form != .signed { bytes += "x-amz-checksum-sha1:AAAA\r\n".utf8 }
    if form == .signedWithTrailer { bytes += "x-amz-trailer-signature:\(digits())\r\n".utf8 }
    bytes += "\r\n".utf8
    return (bytes, content)
  }
}
