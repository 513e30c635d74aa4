import HTTPWire
import Transport

/// One connection of the server: performs what the connection's state decides.
///
/// It lives on its loop and is touched there only. Requests are served one at a time. A request goes
/// one of three ways: refused (`refuse`), answered at the first look (`answerAtOnce`), or given to
/// the handler in a task (`Exchange`). What is written while bytes are being taken in is gathered in
/// the loop's buffer and goes out in one call at the end, so that pipelined answers share it.
final class ServerSession: StreamDelegate {
  let stream: ByteStream
  let server: LoopServer
  private(set) var admission: Admission
  /// The peer is a proxy whose word about the client is believed.
  let isProxied: Bool
  var connection: ServerConnection
  /// Bytes read behind the request that is being answered.
  var kept: [UInt8] = []
  var exchange: Exchange?
  /// Counts exchanges, so that a task that ends late is not taken for the next one's.
  var exchangeNumber = 0
  /// True while bytes are being taken in: what is written now goes out at the end of that.
  var isTakingIn = false
  var timer: LoopTimer?
  private var relay: SessionTimerRelay?
  /// What is waited for on the reading side, and until when.
  var readDeadline: LoopInstant?
  /// When waiting for the end of an unwanted body is given up, whatever comes of it.
  var drainDeadline: LoopInstant?
  var bodyPace: TransferPace?
  /// Since when the body has waited for its reader.
  var bodyHeldSince: LoopInstant?
  var writePace: TransferPace?
  /// What the client had taken of this connection when that was last looked at.
  var bytesTaken = 0
  /// Since when nothing is going on, for whoever has to close somebody.
  var idleSince: LoopInstant?
  let openedAt: LoopInstant
  /// WakeReasons the writer that waits for the client to take what was written.
  var writer: CheckedContinuation<Void, Never>?
  /// Bytes of a streamed body that may still be written; `nil` if its length was not told.
  var contentBytesLeft: Int?
  var isChunked = false
  /// Bytes of a streamed body written since its writer last let others run.
  var unyieldedBytes = 0
  var hasPeerEnded = false

  init(
    stream: ByteStream, server: LoopServer, admission: Admission, on reactor: isolated Reactor
  ) {
    self.stream = stream
    self.server = server
    self.admission = admission
    isProxied = server.shared.configuration.proxies.contains(stream.remoteAddress)
    connection = ServerConnection(limits: server.shared.limits.connection)
    openedAt = reactor.now
    relay = SessionTimerRelay(session: self)
    timer = relay.map { LoopTimer(delegate: $0, on: reactor) }
    stream.readBytesMax = server.limits.readAheadBytesMax
    readDeadline =
      reactor.now
      + (stream.isSecure ? server.limits.handshakeDeadline : server.limits.headDeadline)
    armTimer()
  }

  var limits: ServerLimits { server.limits }

  func opened(_ stream: ByteStream, on reactor: isolated Reactor) {
    switch admission {
    case .waiting:
      admission = .waiting(isOpen: true)
      return stream.pauseReading()
    case .refused, .shed:
      return refuseForOverload(on: reactor)
    case .admitted:
      break
    }
    begin(on: reactor)
  }

  /// It has turned out whether there is a place for this connection.
  func settle(hasPlace: Bool, on reactor: isolated Reactor) {
    guard case .waiting(let isOpen) = admission, server.settled(self, hasPlace: hasPlace) else {
      return
    }
    admission = hasPlace ? .admitted : .refused
    // Before it is open, that goes on as with any other.
    guard isOpen else { return }
    stream.resumeReading()
    if hasPlace { begin(on: reactor) } else { refuseForOverload(on: reactor) }
  }

  /// Ends an idle connection in favour of another, whose place is free at once.
  func makeRoom() {
    guard case .admitted = admission else { return }
    admission = .shed
    server.shared.book.shedPlace()
    stream.close()
  }

  private func begin(on reactor: isolated Reactor) {
    idleSince = reactor.now
    if stream.isSecure {
      // The handshake is over; the first head has its own time.
      readDeadline = reactor.now + limits.headDeadline
      armTimer()
    }
    if server.isDraining { beginDraining() }
  }

  func closed(_ stream: ByteStream, reason: CloseReason, on reactor: isolated Reactor) {
    timer?.cancel()
    idleSince = nil
    exchange?.channel?.finish(.disconnected)
    exchange?.task?.cancel()
    exchange = nil
    exchangeNumber += 1
    writer.take()?.resume()
    server.ended(self, on: reactor)
  }

  /// The server ends: this connection goes after the answer that is due, or soon if none is.
  func beginDraining() {
    connection.stopPersisting()
    guard connection.isIdle else { return }
    readDeadline = stream.now + limits.drainIdleDeadline
    armTimer()
  }
}
