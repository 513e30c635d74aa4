import Transport

/// A server that accepts connections, reads what arrives, and never responds.
package final class SilentServer: Sendable {
  package let port: UInt16
  private let group: EventLoopGroup

  package init() async throws {
    group = try EventLoopGroup(count: 1)
    let listener = try await group.listen(on: .host("127.0.0.1", port: 0)) { _ in Acceptor() }
    port = listener.address.port ?? 0
  }

  package func stop() async { await group.shutdown() }

  private final class Acceptor: StreamAcceptor {
    func accepted(_ stream: ByteStream, on reactor: isolated Reactor) -> (any StreamDelegate)? {
      Connection()
    }
  }

  private final class Connection: StreamDelegate {
    func received(
      _ bytes: UnsafeRawBufferPointer, from stream: ByteStream, on reactor: isolated Reactor
    ) {}

    func reachedEnd(of stream: ByteStream, on reactor: isolated Reactor) { stream.close() }

    func closed(_ stream: ByteStream, reason: CloseReason, on reactor: isolated Reactor) {}
  }
}
