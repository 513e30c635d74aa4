import Synchronization
import Transport

/// Sends back what it gets and ends when the peer does.
final class EchoAcceptor: StreamAcceptor {
  let log: ServerLog

  init(log: ServerLog) {
    self.log = log
  }

  func accepted(_ stream: ByteStream, on reactor: isolated Reactor) -> (any StreamDelegate)? {
    log.note { $0.accepted += 1 }
    return EchoConnection(log: log)
  }
}

/// What a server's connections have seen, from any loop.
final class ServerLog: Sendable {
  struct Counts {
    var accepted = 0
    var opened = 0
    var ends = 0
    var bytes = 0
    var reasons: [CloseReason] = []
  }

  private let counts = Mutex(Counts())

  var current: Counts { counts.withLock { $0 } }

  func note(_ change: (inout Counts) -> Void) {
    counts.withLock { change(&$0) }
  }
}

final class EchoConnection: StreamDelegate {
  private let log: ServerLog

  init(log: ServerLog) {
    self.log = log
  }

  func opened(_ stream: ByteStream, on reactor: isolated Reactor) {
    log.note { $0.opened += 1 }
  }

  func received(
    _ bytes: UnsafeRawBufferPointer, from stream: ByteStream, on reactor: isolated Reactor
  ) {
    log.note { $0.bytes += bytes.count }
    stream.write(bytes)
    if stream.isBackedUp { stream.pauseReading() }
  }

  func drained(_ stream: ByteStream, on reactor: isolated Reactor) {
    stream.resumeReading()
  }

  func reachedEnd(of stream: ByteStream, on reactor: isolated Reactor) {
    log.note { $0.ends += 1 }
    stream.close()
  }

  func closed(_ stream: ByteStream, reason: CloseReason, on reactor: isolated Reactor) {
    log.note { $0.reasons.append(reason) }
  }
}
