import HTTPWire
import Transport

/// One connection of the server: performs what the connection's state decides.
///
/// It lives on its loop and is accessed only there. Requests are served one at a time. A request takes
/// one of three paths: refused (`refuse`), answered immediately (`answerAtOnce`), or passed to the
/// handler in a task (`ServerExchange`). Output written while input is being processed is collected in the
/// loop's buffer and sent in one call at the end, which pipelined responses share.
final class ServerSession: StreamDelegate {
  let stream: ByteStream
  let server: LoopServer
  private(set) var admission: Admission
  /// Whether the peer is a trusted proxy.
  let isProxied: Bool
  /// Whether the peer has shown that it is another node of the cluster.
  var isNode = false
  /// Whether the client of a request can be another than the peer.
  let hasOrigins: Bool
  var connection: ServerConnection
  /// Bytes read after the request being served.
  var kept: [UInt8] = []
  var exchange: ServerExchange?
  /// The number of the current exchange, so that a task that ends late does not affect the next one.
  var exchangeNumber = 0
  /// Whether input is being processed: output written in the meantime is sent at the end.
  var isTakingIn = false
  var timer: LoopTimer?
  private var relay: SessionTimerRelay?
  /// The deadline of the reading side.
  var readDeadline: LoopInstant?
  /// The absolute deadline for the end of an unwanted body.
  var drainDeadline: LoopInstant?
  var bodyPace: TransferPace?
  /// The time since which the body has waited for its reader.
  var bodyHeldSince: LoopInstant?
  var writePace: TransferPace?
  /// Bytes the client had read when its progress was last checked.
  var bytesTaken = 0
  /// The time since which the connection is idle; decides which connections are evicted first.
  var idleSince: LoopInstant?
  let openedAt: LoopInstant
  /// The writer that waits for the client to read its output.
  var writer: CheckedContinuation<Void, Never>?
  /// Bytes of a streamed body left to write; `nil` if its length was not announced.
  var contentBytesLeft: Int?
  var isChunked = false
  /// Bytes of a streamed body written since its writer last yielded.
  var unyieldedBytes = 0
  var hasPeerEnded = false
  /// The WebSocket that this connection has become; nil as long as it carries HTTP.
  var webSocket: ServerWebSocket?

  init(
    stream: ByteStream, server: LoopServer, admission: Admission, on reactor: isolated Reactor
  ) {
    self.stream = stream
    self.server = server
    self.admission = admission
    let configuration = server.shared.configuration
    isProxied = configuration.proxies.contains(stream.remoteAddress)
    hasOrigins = isProxied || configuration.nodes != nil
    var connectionLimits = server.shared.limits.connection
    if configuration.nodes != nil {
      connectionLimits.head = connectionLimits.head.withRoomForNodes
    }
    connection = ServerConnection(limits: connectionLimits)
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
    case .refused, .evicted:
      return refuseForOverload(on: reactor)
    case .admitted:
      break
    }
    begin(on: reactor)
  }

  /// Ends the wait for a place: serves or refuses the connection.
  func settle(hasPlace: Bool, on reactor: isolated Reactor) {
    guard case .waiting(let isOpen) = admission, server.settled(self, hasPlace: hasPlace) else {
      return
    }
    admission = hasPlace ? .admitted : .refused
    // A stream that is not open yet continues as usual.
    guard isOpen else { return }
    stream.resumeReading()
    if hasPlace { begin(on: reactor) } else { refuseForOverload(on: reactor) }
  }

  /// Closes an idle connection to make room for another. Its place is free at once.
  func makeRoom() {
    guard case .admitted = admission else { return }
    admission = .evicted
    server.shared.connections.evictionBegan()
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
    webSocketClosed(reason)
    exchange?.channel?.finish(.disconnected)
    exchange?.task?.cancel()
    // Streams of events end like this, since their clients close them.
    if let exchange, exchange.status > 0 { noteResponse(exchange, on: reactor) }
    exchange?.endSpan(names: server.names)
    exchange = nil
    exchangeNumber += 1
    writer.take()?.resume()
    server.ended(self, on: reactor)
  }

  /// Begins to drain: the connection closes after the response that is due, or soon if there is none.
  func beginDraining() {
    if webSocket != nil { return closeWebSocket(Self.drainReason) }
    connection.stopPersisting()
    guard connection.isIdle else { return }
    readDeadline = stream.now + limits.drainIdleDeadline
    armTimer()
  }
}

/// The state of a connection in regard to the limit on all connections.
enum Admission {
  /// The connection has a place and is served.
  case admitted
  /// All places are taken; the eviction of idle connections is in progress. Nothing is read until
  /// then.
  case waiting(isOpen: Bool)
  /// There is no place for it: it gets a 503.
  case refused
  /// It had a place and was closed to make room.
  case evicted
}

/// One request passed to a handler, with the state of its response.
struct ServerExchange {
  var request: ServerRequest
  /// The channel for the content; `nil` if there is none.
  let channel: BodyChannel?
  /// The verdict of the rate limit; `nil` without one.
  let rate: RateVerdict?
  /// The problem to respond with in place of the handler, for a valid request that must not be served.
  let refusal: ServerProblem?
  /// The handler that has looked up the route for the content, see ``LoopServer/termNumber``. Another one
  /// looks it up again.
  let termNumber: Int
  var task: Task<Void, Never>?
  /// A response that waits until the unwanted body has been read.
  var pendingResponse: PreparedResponse?
  /// Whether the handler has been started: content that has already arrived is queued first.
  var isStarted = false
  var status = 0
  /// The longest pause in which the client reads nothing, of a stream of events; nil for other content,
  /// to which the server's own limit applies.
  var eventStallMax: Duration?
  /// When the head of a streamed response was sent: the end of the duration of a stream of events.
  var streamBegan = LoopInstant(nanoseconds: 0)
  /// Bytes of the request's content, as sent.
  var bytesRead = 0
  /// Bytes written to the socket for this response.
  var bytesWritten = 0
}

/// A session as a set member, compared by identity.
struct SessionReference: Hashable {
  let session: ServerSession

  init(_ session: ServerSession) {
    self.session = session
  }

  static func == (left: SessionReference, right: SessionReference) -> Bool {
    left.session === right.session
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(session))
  }
}

/// The delegate of a session's timer, which forwards to the session.
///
/// A timer's reference is weak, and an object that a weak reference has ever pointed to counts its
/// references in a side table from then on: each retain and release goes there, and a session sees
/// dozens per request.
final class SessionTimerRelay: TimerDelegate {
  /// The session owns its relay, and the timer sees nil once the relay is released.
  private unowned let session: ServerSession

  init(session: ServerSession) {
    self.session = session
  }

  func timerFired(_ timer: LoopTimer, on reactor: isolated Reactor) {
    session.timerFired(timer, on: reactor)
  }
}
