import Glibc
import Synchronization

@testable import Transport

/// Socket options as an accepted connection has them: no delay, keep-alive, user timeout.
final class OptionProbe: Sendable {
  private let values = Mutex<[Int32]>([])

  var options: [Int32] { values.withLock { $0 } }

  func read(from descriptor: Int32) {
    let wanted = [
      (Int32(IPPROTO_TCP), TCP_NODELAY), (SOL_SOCKET, SO_KEEPALIVE),
      (Int32(IPPROTO_TCP), TCP_USER_TIMEOUT),
    ]
    let found = wanted.map { level, option in
      var value: Int32 = -1
      var size = socklen_t(4)
      getsockopt(descriptor, level, option, &value, &size)
      return value
    }
    values.withLock { $0 = found }
  }
}

final class ProbingAcceptor: StreamAcceptor {
  private let probe: OptionProbe

  init(probe: OptionProbe) {
    self.probe = probe
  }

  func accepted(_ stream: ByteStream, on reactor: isolated Reactor) -> (any StreamDelegate)? {
    probe.read(from: stream.descriptor)
    return EchoConnection(log: ServerLog())
  }
}
