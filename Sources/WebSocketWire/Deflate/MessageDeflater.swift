import CZlib

/// Compressor of messages (RFC 7692 section 7.2.1).
///
/// `~Copyable` since zlib's memory has one owner. It is allocated with the first message that is
/// compressed, and without context released after each, so that an idle connection holds none.
struct MessageDeflater: ~Copyable {
  /// The fastest level: a live message is small, and its latency counts.
  private static let level: Int32 = 1
  private static let memoryLevel: Int32 = 8
  /// Bytes that a flush can add to zlib's own bound.
  private static let flushBytesMax = 16
  /// The end of a flushed block, which is not sent.
  private static let tailBytes = 4

  private let direction: WebSocketDeflate.Direction
  private var stream: UnsafeMutablePointer<z_stream>?

  /// Creates a compressor; nil if zlib cannot keep to the window: its smallest is 512 bytes.
  init?(_ direction: WebSocketDeflate.Direction) {
    guard direction.windowBits > WebSocketDeflate.windowBitsRange.lowerBound else { return nil }
    self.direction = direction
  }

  deinit { Self.release(stream) }

  /// Compresses a message and calls `body` with the payload. Returns nil if it must be sent as it is: it
  /// does not get smaller, or there is no memory.
  mutating func withCompressed<Value>(
    _ message: [UInt8], _ body: (UnsafeRawBufferPointer) -> Value
  ) -> Value? {
    guard let stream = stream ?? Self.open(direction) else { return nil }
    self.stream = stream
    defer {
      if !direction.keepsContext {
        Self.release(stream)
        self.stream = nil
      }
    }
    let room = Int(deflateBound(stream, UInt(message.count))) + Self.flushBytesMax
    let space = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 16)
    defer { space.deallocate() }
    let count = message.withUnsafeBytes { Self.compress($0, into: space, with: stream) }
    guard count > Self.tailBytes else { return nil }
    // With context the peer must see every compressed message, since later ones can refer to it.
    guard direction.keepsContext || count - Self.tailBytes < message.count else { return nil }
    return body(UnsafeRawBufferPointer(rebasing: space[..<(count - Self.tailBytes)]))
  }

  private static func compress(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer,
    with stream: UnsafeMutablePointer<z_stream>
  ) -> Int {
    stream.pointee.next_in = UnsafeMutablePointer(
      mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
    stream.pointee.avail_in = UInt32(input.count)
    stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_out = UInt32(output.count)
    let result = deflate(stream, Z_SYNC_FLUSH)
    let count = output.count - Int(stream.pointee.avail_out)
    let isWhole = result == Z_OK && stream.pointee.avail_in == 0 && stream.pointee.avail_out > 0
    stream.pointee.next_in = nil
    stream.pointee.next_out = nil
    return isWhole ? count : 0
  }

  private static func open(
    _ direction: WebSocketDeflate.Direction
  ) -> UnsafeMutablePointer<z_stream>? {
    let made = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    made.initialize(to: z_stream())
    let bits = Int32(-direction.windowBits)
    guard larder_deflateInit2(made, level, bits, memoryLevel) == Z_OK else {
      made.deallocate()
      return nil
    }
    return made
  }

  private static func release(_ stream: UnsafeMutablePointer<z_stream>?) {
    guard let stream else { return }
    deflateEnd(stream)
    stream.deinitialize(count: 1)
    stream.deallocate()
  }
}
