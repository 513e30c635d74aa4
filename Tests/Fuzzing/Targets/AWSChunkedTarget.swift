import S3Wire

/// Content in signed chunks: any bytes in one piece and in many; and well-formed chunks, read back.
enum AWSChunkedTarget {
  private struct Reading: Equatable {
    var content: [UInt8] = []
    var chunks: [Int] = []
    var trailers: [AWSChunkedTrailer] = []
    var error: AWSChunkedError?
    var hasEnded = false
  }

  private static let byteCounts = [0, 3, 10, 4096]

  static func run(_ input: UnsafeRawBufferPointer) {
    guard let dials = Dials(input) else { return }
    let form = AWSChunkedForm.allCases[Int(dials.switches) % AWSChunkedForm.allCases.count]
    let byteCount = byteCounts[Int(dials.switches >> 4) % byteCounts.count]
    let whole = read([dials.stream[...]], form, byteCount: byteCount)
    Finding.require(
      whole == read(dials.pieces, form, byteCount: byteCount), "cuts change the reading")
    Finding.require(whole.content.count <= byteCount, "more content than announced")
    Finding.require(
      !whole.hasEnded || whole.content.count == byteCount, "an end before all that was announced")
    roundTrip(dials)
  }

  private static func roundTrip(_ dials: Dials) {
    let signature = ";chunk-signature=\(String(repeating: "a", count: 64))\r\n"
    var encoded: [UInt8] = []
    for piece in dials.pieces {
      encoded += "\(String(piece.count, radix: 16))\(signature)".utf8
      encoded += piece + Array("\r\n".utf8)
    }
    encoded += "0\(signature)\r\n".utf8
    let reading = read([encoded[...]], .signed, byteCount: dials.stream.count)
    Finding.require(reading.error == nil && reading.hasEnded, "what is written is not read")
    Finding.require(reading.content == dials.stream, "content changes on its way")
  }

  private static func read(
    _ pieces: [ArraySlice<UInt8>], _ form: AWSChunkedForm, byteCount: Int
  ) -> Reading {
    var decoder = AWSChunkedDecoder(form, byteCount: byteCount)
    var reading = Reading()
    do throws(AWSChunkedError) {
      for piece in pieces {
        var piece = piece
        while let event = try decoder.next(&piece) {
          switch event {
          case .chunk(let bytes, _): reading.chunks.append(bytes)
          case .content(let bytes):
            Finding.require(!bytes.isEmpty, "empty content")
            reading.content += bytes
          case .chunkEnd: break
          case .trailers(let trailers, _): reading.trailers = trailers
          case .end: reading.hasEnded = true
          }
        }
        Finding.require(piece.isEmpty, "asks for more and leaves bytes")
      }
      try decoder.finish()
    } catch {
      reading.error = error
    }
    return reading
  }
}
