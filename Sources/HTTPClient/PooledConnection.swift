import HTTPWire
import Transport

/// One connection of a pool: a stream, its parser state, and the request it carries.
final class PooledConnection {
  let id: Int
  /// Whether it has carried a request before the current one.
  private(set) var isReused = false
  private var wire: ClientConnection
  private var assembly: ResponseAssembly?
  private var exchange: ClientExchange?
  private var stream: ByteStream?
  private var idleLimit: Duration
  private var idleTimer: LoopTimer?
  private var isDiscarded = false
  private let pool: ConnectionPool
  private let opened: LoopInstant

  init(id: Int, pool: ConnectionPool, on reactor: isolated Reactor) {
    self.id = id
    self.pool = pool
    opened = reactor.now
    idleLimit = pool.settings.idleTimeout
    // The limit differs by request, so `ResponseAssembly` enforces it.
    wire = ClientConnection(bodyLimits: BodyLimits(bodyBytesMax: .max))
    idleTimer = LoopTimer(delegate: self, on: reactor)
  }

  /// Returns whether it has reached its maximum age.
  func isTooOld(at now: LoopInstant) -> Bool {
    now.elapsed(since: opened) >= pool.settings.connectionAgeMax
  }

  func open(
    to endpoint: Endpoint, tls: TLSClientContext?, deadline: LoopInstant,
    for exchange: ClientExchange,
    on reactor: isolated Reactor
  ) {
    self.exchange = exchange
    exchange.connection = self
    stream = reactor.connect(to: endpoint, tls: tls, deadline: deadline, delegate: self)
  }

  func send(_ exchange: ClientExchange, on reactor: isolated Reactor) {
    guard let stream else { return }
    self.exchange = exchange
    exchange.connection = self
    let settings = pool.settings
    assembly = ResponseAssembly(
      limits: ResponseAssembly.Limits(
        bytesMax: exchange.order.responseBytesMax, decodedRatioMax: settings.decodedRatioMax,
        decodedBytesFree: settings.decodedBytesFree),
      decodes: exchange.request.decodesResponse)
    wire.requestSent(method: exchange.request.method)
    let hasAll = exchange.hasSentContent
    exchange.enter(.sent, limit: hasAll ? settings.firstByteTimeout : nil, at: reactor.now)
    stream.write(exchange.request.head, exchange.request.body)
    exchange.order.outgoing?.open()
  }

  /// Writes a piece of the request's content. Waiting for the next piece has no limit here; the
  /// upstream's reading does.
  func send(
    _ piece: [UInt8], isLast: Bool, of exchange: ClientExchange, on reactor: isolated Reactor
  ) {
    guard let stream else { return }
    stream.write(piece)
    exchange.hasSentContent = isLast
    if stream.isBackedUp {
      exchange.order.outgoing?.fill()
      exchange.enter(.sent, limit: pool.settings.stallTimeout, at: reactor.now)
    } else {
      awaitTurn(of: exchange, on: reactor)
    }
  }

  /// Sets the deadline when the stream has room: for the caller's next content, or the response.
  private func awaitTurn(of exchange: ClientExchange, on reactor: isolated Reactor) {
    let limit = exchange.hasSentContent ? pool.settings.firstByteTimeout : nil
    exchange.enter(.sent, limit: limit, at: reactor.now)
  }

  /// Sets the deadline when bytes of the response arrive. A streamed response has one for each read.
  private func receive(_ exchange: ClientExchange, on reactor: isolated Reactor) {
    if exchange.order.incoming != nil {
      exchange.enter(.receiving, limit: pool.settings.stallTimeout, at: reactor.now)
    } else if exchange.phase == .sent {
      exchange.enter(.receiving, at: reactor.now)
    }
  }

  func resumeReading() { stream?.resumeReading() }

  func becomeIdle() {
    exchange = nil
    assembly = nil
    isReused = true
    stream?.resumeReading()
    idleTimer?.set(after: idleLimit)
  }

  /// Ends the connection. The pool has already removed it and gets no more callbacks.
  func discard() {
    isDiscarded = true
    exchange = nil
    assembly = nil
    idleTimer?.cancel()
    guard let stream else { return }
    if stream.isFlushed { stream.close() } else { stream.reset() }
  }
}

extension PooledConnection: StreamDelegate {
  func opened(_ stream: ByteStream, on reactor: isolated Reactor) {
    guard let exchange, !isDiscarded else { return }
    self.stream = stream
    send(exchange, on: reactor)
  }

  func received(
    _ bytes: UnsafeRawBufferPointer, from stream: ByteStream, on reactor: isolated Reactor
  ) {
    guard !isDiscarded else { return }
    guard let exchange else { return pool.loseIdle(self) }  // unsolicited bytes
    // While content is being sent, the beginning of a response can be an interim one.
    if exchange.hasSentContent || exchange.phase == .receiving { receive(exchange, on: reactor) }
    do throws(HTTPClientError) {
      try take(bytes, for: exchange, on: reactor)
    } catch {
      pool.lose(self, with: exchange, error: error, on: reactor)
    }
  }

  func drained(_ stream: ByteStream, on reactor: isolated Reactor) {
    guard !isDiscarded, let exchange, let outgoing = exchange.order.outgoing,
      exchange.phase == .sent
    else { return }
    awaitTurn(of: exchange, on: reactor)
    outgoing.drain()
  }

  func reachedEnd(of stream: ByteStream, on reactor: isolated Reactor) {
    guard !isDiscarded else { return }
    guard let exchange else { return pool.loseIdle(self) }
    do throws(HTTPClientError) {
      let isWhole = try endOfInput()
      // Without TLS's closing alert, an end of input that delimits the body could be forged.
      guard isWhole, stream.endedCleanly, let response = try assembly?.finish() else {
        throw .responseTruncated
      }
      pool.complete(exchange, with: response, on: self, isReusable: false, reactor: reactor)
    } catch {
      pool.lose(self, with: exchange, error: error, on: reactor)
    }
  }

  func closed(_ stream: ByteStream, reason: CloseReason, on reactor: isolated Reactor) {
    self.stream = nil
    guard !isDiscarded else { return }
    guard let exchange else { return pool.loseIdle(self) }
    pool.lose(self, with: exchange, error: error(for: reason, of: exchange), on: reactor)
  }
}

extension PooledConnection: TimerDelegate {
  /// Closes the connection at the end of the idle time, unless it carries a request again.
  func timerFired(_ timer: LoopTimer, on reactor: isolated Reactor) {
    if exchange == nil, !isDiscarded { pool.loseIdle(self) }
  }
}

extension PooledConnection {
  private func take(
    _ bytes: UnsafeRawBufferPointer, for exchange: ClientExchange, on reactor: isolated Reactor
  ) throws(HTTPClientError) {
    var offset = 0
    while true {
      switch try next(bytes, from: &offset) {
      case .needMore:
        return
      case .continue:
        break  // no body is held back for it
      case .response:
        try assembly?.begin(wire.head, method: exchange.request.method)
        shortenIdleTime()
        if exchange.order.incoming != nil, let head = assembly?.head {
          receive(exchange, on: reactor)
          exchange.begin(head)
        }
      case .content(let range):
        try take(
          content: UnsafeRawBufferPointer(rebasing: bytes[range]), for: exchange, on: reactor)
      case .switchedBytes:
        throw .responseMalformed(.unsolicitedUpgrade)
      case .endOfResponse:
        guard let response = try assembly?.finish() else { return }
        // Bytes after the response belong to no request.
        let isClean =
          offset == bytes.count && stream?.isFlushed == true && exchange.hasSentContent
        return pool.complete(
          exchange, with: response, on: self, isReusable: isClean && wire.canBeReused,
          reactor: reactor)
      }
    }
  }

  private func take(
    content: UnsafeRawBufferPointer, for exchange: ClientExchange, on reactor: isolated Reactor
  ) throws(HTTPClientError) {
    guard let incoming = exchange.order.incoming else {
      try assembly?.append(content)
      return
    }
    guard incoming.append(content) else { return }
    stream?.pauseReading()
    // The reader is slow, not the upstream.
    exchange.enter(.receiving, at: reactor.now)
  }

  private func next(
    _ bytes: UnsafeRawBufferPointer, from offset: inout Int
  ) throws(HTTPClientError) -> ClientConnectionEvent {
    do throws(ResponseError) {
      return try wire.next(bytes, from: &offset)
    } catch {
      throw HTTPClientError(error)
    }
  }

  private func endOfInput() throws(HTTPClientError) -> Bool {
    do throws(ResponseError) {
      return try wire.endOfInput()
    } catch {
      throw HTTPClientError(error)
    }
  }

  /// Applies the server's own idle timeout (`Keep-Alive: timeout=5`), less a second for the network.
  private func shortenIdleTime() {
    guard
      let seconds = wire.head["keep-alive"].flatMap({ KeepAliveField.timeout(in: $0.text) })
    else { return }
    idleLimit = min(pool.settings.idleTimeout, .seconds(max(0, seconds - 1)))
  }

  private func error(for reason: CloseReason, of exchange: ClientExchange) -> HTTPClientError {
    guard exchange.phase == .connecting else {
      return wire.hasResponseBytes ? .responseTruncated : .connectionLost
    }
    return HTTPClientError(connecting: reason)
  }
}

extension HTTPClientError {
  /// The error of a connection that ended before it was open.
  init(connecting reason: CloseReason) {
    self =
      switch reason {
      case .connectFailed(.unresolved(let text)): .unresolved(text)
      case .connectFailed(.refused(let error)): .connectFailed(error)
      case .connectFailed(.deadlineExceeded), .timedOut: .connectTimedOut
      case .tls(let failure): .tls(failure)
      case .failed(let error): .connectFailed(error)
      case .loopStopped, .closedHere, .resetHere: .clientClosed
      case .resetByPeer: .tls(.closedInHandshake)  // a plain connection is open once it is made
      }
  }

  init(_ error: ResponseError) {
    self =
      switch error {
      case .closedBeforeResponse: .connectionLost
      case .closedInsideResponse: .responseTruncated
      case .body(.tooLarge): .responseTooLarge
      default: .responseMalformed(error)
      }
  }
}
