import Transport

/// A server that accepts connections, reads what comes and never responds.
package final class HangingServer: Sendable {
  package let port: UInt16
  private let group: EventLoopGroup

  /// - Parameter port: nil for a free one.
  package init(port: UInt16? = nil) async throws {
    group = try EventLoopGroup(count: 1)
    let listener = try await group.listen(on: .host("127.0.0.1", port: port ?? 0)) { _ in
      Acceptor()
    }
    self.port = listener.address.port ?? 0
  }

  /// Closes its connections and refuses further ones.
  package func stop() async {
    await group.shutdown()
  }

  private final class Acceptor: StreamAcceptor {
    func accepted(_ stream: ByteStream, on reactor: isolated Reactor) -> (any StreamDelegate)? {
      Connection()
    }
  }

  private final class Connection: StreamDelegate {
    func received(
      _ bytes: UnsafeRawBufferPointer, from stream: ByteStream, on reactor: isolated Reactor
    ) {}

    func reachedEnd(of stream: ByteStream, on reactor: isolated Reactor) {
      stream.close()
    }

    func closed(_ stream: ByteStream, reason: CloseReason, on reactor: isolated Reactor) {}
  }
}
