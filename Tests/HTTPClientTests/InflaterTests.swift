import TestSupport
import Testing

@testable import HTTPClient

struct InflaterTests {
  private static let roomy = Inflater.Limits(bytesMax: 1 << 24, ratioMax: 2000, bytesFree: 1 << 20)

  /// Decodes `coded` in the given pieces; returns the output and whether it was whole.
  private func decode(
    _ coded: [UInt8], format: Inflater.Format, limits: Inflater.Limits = roomy, pieces: [Int] = []
  ) throws(Inflater.Failure) -> (bytes: [UInt8], isComplete: Bool) {
    var inflater = try Inflater(format: format, limits: limits)
    var output: [UInt8] = []
    var start = 0
    for end in pieces + [coded.count] where end > start {
      let piece = Array(coded[start..<end])
      let result: Result<Void, Inflater.Failure> = piece.withUnsafeBytes { bytes in
        do throws(Inflater.Failure) {
          return .success(try inflater.decode(bytes, into: &output))
        } catch { return .failure(error) }
      }
      try result.get()
      start = end
    }
    return (output, inflater.isComplete)
  }

  @Test(
    "Coded content is decoded whole and in pieces",
    arguments: [
      ("films.json.gz", Inflater.Format.gzip), ("films.json.members.gz", .gzip),
      ("films.json.zlib", .deflate), ("films.json.raw", .deflate),
    ])
  func decodesWholeAndInPieces(name: String, format: Inflater.Format) throws {
    let coded = try Fixture.bytes(name)
    let plain = try Fixture.bytes("films.json")
    let whole = try decode(coded, format: format)
    #expect(whole.bytes == plain && whole.isComplete)
    let bytewise = try decode(coded, format: format, pieces: Array(1..<coded.count))
    #expect(bytewise.bytes == plain && bytewise.isComplete)
  }

  @Test(
    "A missing end is detected",
    arguments: [0, 1, 9, 30, 500])
  func detectsAMissingEnd(count: Int) throws {
    let coded = try Fixture.bytes("films.json.gz")
    let result = try decode(Array(coded[..<count]), format: .gzip)
    #expect(result.isComplete == (count == 0))
  }

  @Test("Garbage and bytes after the end are refused")
  func refusesGarbageAndTrailingBytes() throws {
    let coded = try Fixture.bytes("films.json.gz")
    #expect(throws: Inflater.Failure.malformed) {
      try decode(Array("<html>".utf8), format: .gzip)
    }
    #expect(throws: Inflater.Failure.malformed) {
      try decode(coded + Array("rubbish".utf8), format: .gzip)
    }
    #expect(throws: Inflater.Failure.malformed) {
      try decode(try Fixture.bytes("films.json.raw") + [1], format: .deflate)
    }
    var broken = coded
    broken[broken.count - 6] ^= 1  // in the checksum
    #expect(throws: Inflater.Failure.malformed) { try decode(broken, format: .gzip) }
  }

  @Test("A decompression bomb stops at either limit")
  func stopsABombAtEitherLimit() throws {
    let bomb = try Fixture.bytes("zeros-4MiB.gz")
    #expect(throws: Inflater.Failure.tooLarge) {
      try decode(
        bomb, format: .gzip,
        limits: Inflater.Limits(bytesMax: 1 << 20, ratioMax: 2000, bytesFree: 1 << 20))
    }
    #expect(throws: Inflater.Failure.tooLarge) {
      try decode(
        bomb, format: .gzip,
        limits: Inflater.Limits(bytesMax: 1 << 24, ratioMax: 100, bytesFree: 1 << 16))
    }
    #expect(try decode(bomb, format: .gzip).bytes.count == 4 << 20)
  }
}
