import CZlib

/// Incremental decoder for gzip and deflate bodies, with limits.
///
/// `~Copyable` since the stream's memory has one owner. zlib keeps a pointer from its state back to
/// the `z_stream`, which is therefore allocated separately and never moves.
struct Inflater: ~Copyable {
  enum Format {
    case gzip
    /// zlib's format (RFC 9110, 8.4.1.2), or raw deflate, which some servers send.
    case deflate
  }

  enum Failure: Error, Equatable {
    case malformed
    case tooLarge
    case outOfMemory
  }

  struct Limits {
    let bytesMax: Int
    let ratioMax: Int
    let bytesFree: Int
  }

  /// 15 bits of window; +32 detects gzip or zlib by the header; negative means raw deflate.
  private static let windowBitsDetect: Int32 = 15 + 32
  private static let windowBitsRaw: Int32 = -15

  private let stream: UnsafeMutablePointer<z_stream>
  private let format: Format
  private let limits: Limits
  private var hasBegun = false
  private var isAtEnd = false
  private var codedBytes = 0
  private var decodedBytes = 0

  init(format: Format, limits: Limits) throws(Failure) {
    self.format = format
    self.limits = limits
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    guard larder_inflateInit2(stream, Self.windowBitsDetect) == Z_OK else {
      throw .outOfMemory
    }
  }

  deinit {
    inflateEnd(stream)
    stream.deinitialize(count: 1)
    stream.deallocate()
  }

  /// Whether the input is a complete coded body. An empty one is: there was nothing to code.
  var isComplete: Bool { isAtEnd || codedBytes == 0 }

  /// Decodes `input` and appends to `output`.
  mutating func decode(
    _ input: UnsafeRawBufferPointer, into output: inout [UInt8]
  ) throws(Failure) {
    guard let start = input.baseAddress, !input.isEmpty else { return }
    try begin(with: input[0])
    codedBytes += input.count
    stream.pointee.next_in = UnsafeMutablePointer(
      mutating: start.assumingMemoryBound(to: UInt8.self))
    stream.pointee.avail_in = UInt32(input.count)
    while stream.pointee.avail_in > 0 {
      if isAtEnd { try beginNextMember() }
      try inflateOnce(into: &output)
    }
    while !isAtEnd, try inflateOnce(into: &output) > 0 {}
  }

  /// Detects raw deflate: zlib's header has 8 in the low half of its first byte.
  private mutating func begin(with first: UInt8) throws(Failure) {
    guard !hasBegun else { return }
    hasBegun = true
    guard format == .deflate, first & 0x0F != 8 else { return }
    guard inflateReset2(stream, Self.windowBitsRaw) == Z_OK else { throw .malformed }
  }

  /// Starts the next gzip member (RFC 1952, 2.2); anything else after the end is refused.
  private mutating func beginNextMember() throws(Failure) {
    guard format == .gzip, inflateReset(stream) == Z_OK else { throw .malformed }
    isAtEnd = false
  }

  @discardableResult
  private mutating func inflateOnce(into output: inout [UInt8]) throws(Failure) -> Int {
    let stream = stream
    var result = Z_OK
    let produced = withUnsafeTemporaryAllocation(byteCount: 32 * 1024, alignment: 16) { space in
      stream.pointee.next_out = space.baseAddress?.assumingMemoryBound(to: UInt8.self)
      stream.pointee.avail_out = UInt32(space.count)
      result = inflate(stream, Z_NO_FLUSH)
      let count = space.count - Int(stream.pointee.avail_out)
      output.append(contentsOf: UnsafeRawBufferPointer(rebasing: space[..<count]))
      return count
    }
    decodedBytes += produced
    switch result {
    case Z_STREAM_END: isAtEnd = true
    case Z_OK, Z_BUF_ERROR: break
    case Z_MEM_ERROR: throw .outOfMemory
    default: throw .malformed
    }
    try checkSize()
    return produced
  }

  private func checkSize() throws(Failure) {
    guard decodedBytes <= limits.bytesMax else { throw .tooLarge }
    guard decodedBytes > limits.bytesFree else { return }
    guard decodedBytes / limits.ratioMax <= codedBytes else { throw .tooLarge }
  }
}
