import Synchronization
import Testing
import Transport

struct ReadSizeTests {
  /// Takes in at most so much at once, and stops reading after each delivery until the next turn.
  private final class Measuring: StreamAcceptor, StreamDelegate {
    private let bytesMax: Int
    private let sizes: SizeLog

    init(bytesMax: Int, sizes: SizeLog) {
      self.bytesMax = bytesMax
      self.sizes = sizes
    }

    func accepted(_ stream: ByteStream, on reactor: isolated Reactor) -> (any StreamDelegate)? {
      stream.readBytesMax = bytesMax
      return self
    }

    func opened(_ stream: ByteStream, on reactor: isolated Reactor) {}

    func received(
      _ bytes: UnsafeRawBufferPointer, from stream: ByteStream, on reactor: isolated Reactor
    ) {
      sizes.note(bytes.count)
      stream.write(bytes)
      stream.pauseReading()
      stream.resumeReading()
    }

    func drained(_ stream: ByteStream, on reactor: isolated Reactor) {}

    func reachedEnd(of stream: ByteStream, on reactor: isolated Reactor) { stream.close() }

    func closed(_ stream: ByteStream, reason: CloseReason, on reactor: isolated Reactor) {}
  }

  private final class SizeLog: Sendable {
    private let sizes = Mutex<[Int]>([])
    var largest: Int { sizes.withLock { $0.max() ?? 0 } }
    func note(_ size: Int) { sizes.withLock { $0.append(size) } }
  }

  @Test(
    "No more bytes than the limit are delivered at once",
    arguments: [1, 1000, 64 * 1024])
  func deliversNoMoreThanTheLimit(bytesMax: Int) async throws {
    try await withLoops(1) { group in
      let sizes = SizeLog()
      let server = try await group.listen(on: .host("127.0.0.1", port: 0)) { _ in
        Measuring(bytesMax: bytesMax, sizes: sizes)
      }
      let peer = try RawPeer(connectedTo: server.address.port ?? 0)
      let sent = pattern(min(50_000, bytesMax * 200))
      try peer.send(sent)
      peer.shutDownWriting()
      #expect(difference(try peer.receive(.max), sent) == nil)
      #expect(sizes.largest <= bytesMax)
      #expect(sizes.largest > 0)
    }
  }
}
