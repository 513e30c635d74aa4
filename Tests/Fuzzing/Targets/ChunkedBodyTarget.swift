import HTTPWire

/// The chunked coding: any bytes in one piece and in many; and the encoder's output, read back.
enum ChunkedBodyTarget {
  private struct Reading: Equatable {
    var content: [UInt8] = []
    var error: BodyError?
    var isAtEnd = false
    /// The number of bytes that belong to the body, once it has ended.
    var taken = 0
  }

  static func run(_ input: UnsafeRawBufferPointer) {
    guard let dials = Dials(input) else { return }
    let limits =
      dials.isOn(0)
      ? BodyLimits(
        bodyBytesMax: 40, chunkSizeDigitsMax: 3, chunkExtensionBytesMax: 8,
        chunkOverheadBytesMax: 24, trailerBytesMax: 24, trailerFieldsMax: 2)
      : BodyLimits(bodyBytesMax: 4096)
    let whole = read([dials.stream[...]], limits)
    Finding.require(whole == read(dials.pieces, limits), "cuts change the result")
    Finding.require(whole.content.count <= limits.bodyBytesMax, "more content than allowed")
    roundTrip(dials)
  }

  private static func roundTrip(_ dials: Dials) {
    var encoded: [UInt8] = []
    for piece in dials.pieces { ChunkEncoder.append(piece, to: &encoded) }
    ChunkEncoder.appendEnd(to: &encoded)
    let body = encoded.count
    encoded += Array("GET".utf8)
    let limits = BodyLimits(bodyBytesMax: .max, chunkOverheadBytesMax: 1 << 24)
    let reading = read([encoded[...]], limits)
    Finding.require(reading.error == nil && reading.isAtEnd, "written text is refused")
    Finding.require(reading.content == dials.stream, "content changes in a round trip")
    Finding.require(reading.taken == body, "the end is elsewhere")
  }

  private static func read(_ pieces: [ArraySlice<UInt8>], _ limits: BodyLimits) -> Reading {
    var reading = Reading()
    var taken = 0
    guard var decoder = try? BodyDecoder(framing: .chunked, limits: limits) else { return reading }
    for piece in pieces where !reading.isAtEnd && reading.error == nil {
      Array(piece).withUnsafeBytes { read($0, &decoder, &reading, &taken) }
    }
    return reading
  }

  private static func read(
    _ input: UnsafeRawBufferPointer, _ decoder: inout BodyDecoder, _ reading: inout Reading,
    _ taken: inout Int
  ) {
    var offset = 0
    do throws(BodyError) {
      while true {
        switch try decoder.next(input, from: &offset) {
        case .needMore:
          Finding.require(offset == input.count, "needs more input and leaves bytes")
          taken += offset
          return
        case .content(let range):
          Finding.require(!range.isEmpty, "empty content")
          reading.content += input[range]
        case .end:
          reading.isAtEnd = true
          reading.taken = taken + offset
          return
        }
      }
    } catch {
      reading.error = error
    }
  }
}
