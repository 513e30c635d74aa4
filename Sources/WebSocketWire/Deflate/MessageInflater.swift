import CZlib

/// Decompressor of messages (RFC 7692 section 7.2.2), with limits on what comes out.
///
/// `~Copyable` since zlib's memory has one owner. It is allocated with the first compressed message; zlib
/// keeps a pointer back to the `z_stream`, which therefore never moves.
struct MessageInflater: ~Copyable {
  /// The end of a flushed block, which the sender leaves out.
  private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]
  /// Decompressed bytes of one step.
  private static let stepBytes = 32 * 1024
  /// The decompressed size above which the ratio counts; no message of ordinary size is refused.
  static let bytesFree = 1 << 20
  /// The ratio of decompressed to compressed bytes. JSON lists reach 15, deflate's own limit is 1032.
  static let ratioMax = 100

  /// The largest window, whatever the agreed one: zlib accepts references beyond a smaller one, as long as
  /// they stay within one step's output, so the outcome would depend on how the input was split.
  private static let windowBits: Int32 = 15

  private let direction: WebSocketDeflate.Direction
  private var stream: UnsafeMutablePointer<z_stream>?
  private var codedBytes = 0
  /// Whether a block that is marked as the last has ended. A sender can do so and go on
  /// (RFC 7692 section 7.2.3.4).
  private var isAtEnd = false

  init(_ direction: WebSocketDeflate.Direction) {
    self.direction = direction
  }

  deinit { Self.release(stream) }

  /// Decompresses a piece of a message and appends to `output`.
  mutating func decode(
    _ input: UnsafeRawBufferPointer, into output: inout [UInt8], bytesMax: Int
  ) throws(WebSocketFault) {
    guard !input.isEmpty else { return }
    let stream = try opened()
    defer { codedBytes += input.count }
    // zlib does not write through `next_in`, whatever its type says.
    stream.pointee.next_in = UnsafeMutablePointer(
      mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
    stream.pointee.avail_in = UInt32(input.count)
    var isFull = true
    while stream.pointee.avail_in > 0 || isFull {
      if isAtEnd {
        guard stream.pointee.avail_in > 0 else { break }
        // Keeps the window: later blocks can refer to earlier ones.
        guard inflateResetKeep(stream) == Z_OK else { throw .malformedDeflate }
        isAtEnd = false
      }
      isFull = try step(stream, of: input.count, into: &output, bytesMax: bytesMax)
    }
    stream.pointee.next_in = nil
  }

  /// Ends a message.
  mutating func finish(into output: inout [UInt8], bytesMax: Int) throws(WebSocketFault) {
    let failure = Self.tail.withUnsafeBytes { raw -> WebSocketFault? in
      do throws(WebSocketFault) {
        try decode(raw, into: &output, bytesMax: bytesMax)
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw failure }
    codedBytes = 0
    guard direction.keepsContext else {
      // An idle connection holds no window.
      Self.release(stream)
      stream = nil
      isAtEnd = false
      return
    }
    guard let stream, isAtEnd else { return }
    isAtEnd = false
    guard inflateResetKeep(stream) == Z_OK else { throw .malformedDeflate }
  }

  private static func release(_ stream: UnsafeMutablePointer<z_stream>?) {
    guard let stream else { return }
    inflateEnd(stream)
    stream.deinitialize(count: 1)
    stream.deallocate()
  }

  private mutating func opened() throws(WebSocketFault) -> UnsafeMutablePointer<z_stream> {
    if let stream { return stream }
    let made = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    made.initialize(to: z_stream())
    guard larder_inflateInit2(made, -Self.windowBits) == Z_OK else {
      made.deallocate()
      throw .malformedDeflate
    }
    stream = made
    return made
  }

  /// Decompresses once. Returns whether there may be more output without more input.
  private mutating func step(
    _ stream: UnsafeMutablePointer<z_stream>, of inputBytes: Int, into output: inout [UInt8],
    bytesMax: Int
  ) throws(WebSocketFault) -> Bool {
    var result = Z_OK
    let isFull = withUnsafeTemporaryAllocation(byteCount: Self.stepBytes, alignment: 16) { space in
      stream.pointee.next_out = space.baseAddress?.assumingMemoryBound(to: UInt8.self)
      stream.pointee.avail_out = UInt32(space.count)
      result = inflate(stream, Z_NO_FLUSH)
      let count = space.count - Int(stream.pointee.avail_out)
      stream.pointee.next_out = nil
      output.append(contentsOf: UnsafeRawBufferPointer(rebasing: space[..<count]))
      return count == space.count
    }
    guard output.count <= bytesMax else { throw .messageTooLarge }
    let taken = codedBytes + inputBytes - Int(stream.pointee.avail_in)
    guard output.count <= Self.bytesFree || output.count / Self.ratioMax <= taken else {
      throw .deflateRatio
    }
    // Judged last: how much is decompressed before a fault depends on how the input was split.
    switch result {
    case Z_STREAM_END: isAtEnd = true
    case Z_OK, Z_BUF_ERROR: break
    default: throw .malformedDeflate
    }
    return isFull && !isAtEnd
  }
}
