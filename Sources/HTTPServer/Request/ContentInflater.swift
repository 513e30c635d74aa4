import CZlib
import HTTPWire

/// Decoder for gzip and deflate content, a piece of bounded size at a time.
///
/// `~Copyable` since zlib's memory has one owner. zlib keeps a pointer back to the `z_stream`, which
/// is therefore allocated separately.
struct ContentInflater: ~Copyable {
  enum Failure: Error {
    case malformed
    case outOfMemory
  }

  /// gzip members in one body (RFC 1952 2.2). Parallel compressors write one for each 64 KiB or more;
  /// empty ones are a way to load a server.
  static let membersMax = 1024
  /// Bytes of one piece.
  static let pieceBytes = 32 * 1024
  /// 15 bits of window: zlib's format (RFC 9110 8.4.1.2); +16 for gzip.
  private static let windowBits: Int32 = 15

  private let stream: UnsafeMutablePointer<z_stream>
  private let isGzip: Bool
  private var members = 1
  private var hasBegun = false
  private(set) var isAtEnd = false

  init(isGzip: Bool) throws(Failure) {
    self.isGzip = isGzip
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let bits = Self.windowBits + (isGzip ? 16 : 0)
    guard larder_inflateInit2(stream, bits) == Z_OK else { throw .outOfMemory }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  /// Whether the input is complete. Empty input is: there was nothing to code.
  var isComplete: Bool { isAtEnd || !hasBegun }

  /// Decodes the next piece and removes the consumed bytes from `input`. Returns an empty piece if more
  /// input is needed.
  mutating func next(_ input: inout ArraySlice<UInt8>) throws(Failure) -> [UInt8] {
    while true {
      if isAtEnd {
        guard !input.isEmpty else { return [] }
        try beginNextMember()
      }
      let piece = try inflatePiece(&input)
      if !piece.isEmpty || (input.isEmpty && !isAtEnd) { return piece }
    }
  }

  private mutating func beginNextMember() throws(Failure) {
    members += 1
    guard isGzip, members <= Self.membersMax, inflateReset(stream) == Z_OK else {
      throw .malformed
    }
    isAtEnd = false
  }

  private mutating func inflatePiece(_ input: inout ArraySlice<UInt8>) throws(Failure) -> [UInt8] {
    var result = Z_OK
    var taken = 0
    let stream = stream
    let piece = [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { output, count in
      input.withUnsafeBytes { bytes in
        // zlib does not write through `next_in`, whatever its type says.
        stream.pointee.next_in = UnsafeMutablePointer(
          mutating: bytes.assumingMemoryBound(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(bytes.count)
        stream.pointee.next_out = output.baseAddress
        stream.pointee.avail_out = UInt32(output.count)
        result = inflate(stream, Z_NO_FLUSH)
        taken = bytes.count - Int(stream.pointee.avail_in)
        count = output.count - Int(stream.pointee.avail_out)
        stream.pointee.next_in = nil
        stream.pointee.next_out = nil
      }
    }
    if taken > 0 { hasBegun = true }
    input = input.dropFirst(taken)
    switch result {
    case Z_STREAM_END: isAtEnd = true
    case Z_OK, Z_BUF_ERROR: break
    case Z_MEM_ERROR: throw .outOfMemory
    default: throw .malformed
    }
    return piece
  }
}
