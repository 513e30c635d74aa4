import HTTPWire

/// A decoder of `aws-chunked` content in pieces of any size. SDKs send content so that they do not hash
/// beforehand:
///
/// ```
/// 400;chunk-signature=<64 hexadecimal digits>\r\n
/// <0x400 bytes>\r\n
/// 0;chunk-signature=…\r\n
/// x-amz-checksum-crc32c:wdBDMA==\r\n           with a trailer
/// x-amz-trailer-signature:…\r\n                with a signed trailer
/// \r\n
/// ```
///
/// It reports signatures and does not verify them. It buffers at most one line of the input.
package struct AWSChunkedDecoder: Sendable {
  /// A size of 16 digits and its signature take 98 bytes.
  static let chunkLineBytesMax = 256
  /// A checksum or a signature with its name takes about a hundred.
  package static let trailerLineBytesMax = 1024
  package static let trailersMax = 16

  private static let signatureDigits = 64
  private static let sizeDigitsMax = 16
  private static let extensionName = Array(";chunk-signature=".utf8)
  private static let trailerSignatureName = "x-amz-trailer-signature"

  private enum Place: Hashable, Sendable {
    case chunkLine
    /// - Parameter left: bytes of the chunk still to come.
    case content(left: Int)
    /// The line end after a chunk's content.
    ///
    /// - Parameter seen: bytes of it already read.
    case contentEnd(seen: Int)
    case lastChunkEnd
    case trailers
    /// The final line end of a form without a trailer.
    case emptyLine
    case beforeEnd
    case over
  }

  private let form: AWSChunkedForm
  /// Announced bytes of content still to come.
  private var left: Int
  private var place = Place.chunkLine
  private var line: [UInt8] = []
  private var trailers: [AWSChunkedTrailer] = []
  private var trailerSignature: String?

  /// - Parameter byteCount: bytes of the content without its framing (`x-amz-decoded-content-length`).
  package init(_ form: AWSChunkedForm, byteCount: Int) {
    self.form = form
    left = byteCount
  }

  /// Reports the end of the input.
  ///
  /// - Throws: `unfinished` if the content is incomplete.
  package func finish() throws(AWSChunkedError) {
    guard place == .over else { throw .unfinished }
  }

  /// Consumes input from the front of `input` up to the next event.
  ///
  /// - Returns: nil if all of it is consumed and more is needed.
  package mutating func next(
    _ input: inout ArraySlice<UInt8>
  ) throws(AWSChunkedError) -> AWSChunkedEvent? {
    while true {
      switch place {
      case .chunkLine:
        guard let line = try takeLine(&input, bytesMax: Self.chunkLineBytesMax) else { return nil }
        return try beginChunk(line)
      case .content(let wanted):
        guard wanted > 0 else {
          place = .contentEnd(seen: 0)
          continue
        }
        guard !input.isEmpty else { return nil }
        let piece = input.prefix(wanted)
        input = input.dropFirst(piece.count)
        place = .content(left: wanted - piece.count)
        return .content(piece)
      case .contentEnd(let seen):
        guard let byte = input.popFirst() else { return nil }
        guard byte == (seen == 0 ? 0xD : 0xA) else { throw .malformedChunkEnd }
        guard seen == 1 else {
          place = .contentEnd(seen: 1)
          continue
        }
        place = .chunkLine
        return .chunkEnd
      case .lastChunkEnd:
        place = form.hasTrailer ? .trailers : .emptyLine
        return .chunkEnd
      case .trailers:
        guard let line = try takeLine(&input, bytesMax: Self.trailerLineBytesMax) else {
          return nil
        }
        guard line.isEmpty else {
          try note(line)
          continue
        }
        guard !form.isSigned || trailerSignature != nil else { throw .trailerSignatureMissing }
        place = .beforeEnd
        return .trailers(trailers, signature: trailerSignature)
      case .emptyLine:
        guard let line = try takeLine(&input, bytesMax: Self.chunkLineBytesMax) else { return nil }
        guard line.isEmpty else { throw .malformedChunkEnd }
        place = .beforeEnd
      case .beforeEnd:
        place = .over
        return .end
      case .over:
        guard input.isEmpty else { throw .contentAfterEnd }
        return nil
      }
    }
  }

  /// - Parameter line: a chunk's line without its end.
  private mutating func beginChunk(
    _ line: [UInt8]
  ) throws(AWSChunkedError) -> AWSChunkedEvent {
    let digits = line.prefix { $0 != UInt8(ascii: ";") }
    guard let size = Self.size(digits) else { throw .malformedChunkLine }
    let rest = line[digits.endIndex...]
    var signature: String?
    if form.isSigned {
      guard rest.starts(with: Self.extensionName),
        let text = Self.signature(rest.dropFirst(Self.extensionName.count))
      else { throw .malformedChunkLine }
      signature = text
    } else {
      guard rest.isEmpty else { throw .malformedChunkLine }
    }
    guard size <= left else { throw .tooMuchContent }
    left -= size
    if size == 0 {
      guard left == 0 else { throw .tooLittleContent }
      place = .lastChunkEnd
    } else {
      place = .content(left: size)
    }
    return .chunk(bytes: size, signature: signature)
  }

  private mutating func note(_ line: [UInt8]) throws(AWSChunkedError) {
    var line = line[...]
    // In the signed text each field ends with a line feed, which some clients send too.
    if line.last == 0xA { line = line.dropLast() }
    guard trailerSignature == nil else { throw .trailerSignatureMissing }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
      line[..<colon].allSatisfy(Self.isInName), line.allSatisfy({ (0x20...0x7E).contains($0) })
    else { throw .malformedTrailer }
    let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
    let value = line[(colon + 1)...].trimmingBlanks
    if form.isSigned, name == Self.trailerSignatureName {
      guard let signature = Self.signature(value) else { throw .malformedTrailer }
      trailerSignature = signature
      return
    }
    guard trailers.count < Self.trailersMax else { throw .tooManyTrailers }
    guard !trailers.contains(where: { $0.name == name }) else { throw .malformedTrailer }
    trailers.append(
      AWSChunkedTrailer(name: name, value: String(decoding: value, as: UTF8.self)))
  }

  /// A line without its end; nil, with the input buffered, until it is complete.
  private mutating func takeLine(
    _ input: inout ArraySlice<UInt8>, bytesMax: Int
  ) throws(AWSChunkedError) -> [UInt8]? {
    while let byte = input.popFirst() {
      if byte == 0xA, line.last == 0xD {
        defer { line = [] }
        return line.dropLast()
      }
      guard line.count < bytesMax else { throw .lineTooLong }
      line.append(byte)
    }
    return nil
  }

  private static func size(_ digits: ArraySlice<UInt8>) -> Int? {
    guard (1...sizeDigitsMax).contains(digits.count), digits.allSatisfy(isHexadecimal) else {
      return nil
    }
    return Int(String(decoding: digits, as: UTF8.self), radix: 16)
  }

  private static func signature(_ text: ArraySlice<UInt8>) -> String? {
    guard text.count == signatureDigits, text.allSatisfy(isHexadecimal) else { return nil }
    return String(decoding: text, as: UTF8.self)
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }

  private static func isInName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
