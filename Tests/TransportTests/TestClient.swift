import Synchronization
import TestSupport
import Transport

/// A client stream whose events can be waited for from a test.
final class TestClient: Sendable {
  struct State {
    var isOpened = false
    var negotiatedProtocol: String?
    var bytes: [UInt8] = []
    var drains = 0
    var hasEnded = false
    var endedCleanly = false
    var reason: CloseReason?
  }

  let reactor: Reactor
  private let shared = Mutex(State())
  // SAFETY: set and read only in the reactor's isolation, by the methods below.
  private nonisolated(unsafe) var stream: ByteStream?

  var state: State { shared.withLock { $0 } }

  init(
    _ endpoint: Endpoint, tls: TLSClientContext? = nil, serverName: String? = nil,
    within limit: Duration = .seconds(5), on reactor: Reactor
  ) async {
    self.reactor = reactor
    await reactor.run { [self] reactor in
      stream = reactor.connect(
        to: endpoint, tls: tls, serverName: serverName, deadline: reactor.now + limit,
        delegate: Recorder(client: self))
    }
  }

  func perform(_ action: @Sendable (ByteStream) -> Void) async {
    await reactor.run { [self] _ in
      if let stream { action(stream) }
    }
  }

  func write(_ bytes: [UInt8]) async {
    await perform { $0.write(bytes) }
  }

  /// Waits for `count` bytes, the end, or the limit, and returns what has come.
  func receive(_ count: Int, within limit: Duration = .seconds(5)) async -> [UInt8] {
    _ = await eventuallyHolds(within: limit) {
      shared.withLock { $0.bytes.count >= count || $0.reason != nil }
    }
    return state.bytes
  }

  func closeReason(within limit: Duration = .seconds(5)) async -> CloseReason? {
    _ = await eventuallyHolds(within: limit) { state.reason != nil }
    return state.reason
  }

  private final class Recorder: StreamDelegate {
    let client: TestClient

    init(client: TestClient) {
      self.client = client
    }

    func opened(_ stream: ByteStream, on reactor: isolated Reactor) {
      let name = stream.negotiatedProtocol
      client.shared.withLock {
        $0.isOpened = true
        $0.negotiatedProtocol = name
      }
    }

    func received(
      _ bytes: UnsafeRawBufferPointer, from stream: ByteStream, on reactor: isolated Reactor
    ) {
      let bytes = [UInt8](bytes)
      client.shared.withLock { $0.bytes += bytes }
    }

    func reachedEnd(of stream: ByteStream, on reactor: isolated Reactor) {
      let endedCleanly = stream.endedCleanly
      client.shared.withLock {
        $0.hasEnded = true
        $0.endedCleanly = endedCleanly
      }
    }

    func drained(_ stream: ByteStream, on reactor: isolated Reactor) {
      client.shared.withLock { $0.drains += 1 }
    }

    func closed(_ stream: ByteStream, reason: CloseReason, on reactor: isolated Reactor) {
      client.stream = nil
      client.shared.withLock { $0.reason = reason }
    }
  }
}

extension Reactor {
  /// Runs `body` on the loop.
  func run<Result: Sendable>(_ body: @Sendable (isolated Reactor) throws -> Result) rethrows
    -> Result
  {
    try body(self)
  }
}
