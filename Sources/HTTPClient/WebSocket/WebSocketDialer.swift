import HTTPWire
import Transport
import WebSocketWire
import WebSockets

/// One WebSocket connection of the client on its loop: the handshake, then the stream's callbacks for the
/// open connection.
final class WebSocketDialer: StreamDelegate, TimerDelegate {
  typealias Completion = (Result<WebSocketClientConnection, HTTPClientError>) -> Void

  private let order: WebSocketOrder
  private let deadline: LoopInstant
  private var wire = ClientConnection(bodyLimits: BodyLimits())
  private var stream: ByteStream?
  private var pump: WebSocketPump?
  private var completion: Completion?
  private var timer: LoopTimer?
  private var hasSent = false

  init(_ order: WebSocketOrder, on reactor: isolated Reactor, completion: @escaping Completion) {
    self.order = order
    self.completion = completion
    deadline = reactor.now + order.handshakeTimeout
    timer = LoopTimer(delegate: self, on: reactor)
    timer?.set(deadline)
  }

  /// Begins the connection.
  func dial(_ endpoint: Endpoint, tls: TLSClientContext?, on reactor: isolated Reactor) {
    stream = reactor.connect(to: endpoint, tls: tls, deadline: deadline, delegate: self)
  }

  /// Ends the connection in any phase.
  func end(_ error: HTTPClientError) {
    if let pump {
      pump.close(WebSocketClose(code: WebSocketClose.goingAway))
    } else {
      fail(error)
    }
  }

  /// Ends a handshake that the caller no longer waits for.
  func cancel() {
    if pump == nil { fail(.cancelled(wasSent: hasSent)) }
  }

  private func fail(_ error: HTTPClientError) {
    timer?.cancel()
    timer = nil
    completion.take()?(.failure(error))
    stream?.reset()
  }

  func timerFired(_ timer: LoopTimer, on reactor: isolated Reactor) {
    fail(hasSent ? .noResponseInTime : .connectTimedOut)
  }
}

extension WebSocketDialer {
  func opened(_ stream: ByteStream, on reactor: isolated Reactor) {
    guard completion != nil else { return }
    self.stream = stream
    hasSent = true
    wire.requestSent(method: .get, asksForUpgrade: true)
    stream.write(order.head)
  }

  func received(
    _ bytes: UnsafeRawBufferPointer, from stream: ByteStream, on reactor: isolated Reactor
  ) {
    if let pump { return pump.received(bytes) }
    guard completion != nil else { return }
    do throws(HTTPClientError) {
      var offset = 0
      while try takeNext(bytes, from: &offset, stream, on: reactor) {}
    } catch {
      fail(error)
    }
  }

  func reachedEnd(of stream: ByteStream, on reactor: isolated Reactor) {
    if let pump { return pump.reachedEnd() }
    fail(wire.hasResponseBytes ? .responseTruncated : .connectionLost)
  }

  func drained(_ stream: ByteStream, on reactor: isolated Reactor) {
    pump?.drained()
  }

  func closed(_ stream: ByteStream, reason: CloseReason, on reactor: isolated Reactor) {
    if let pump { pump.closed(reason) } else { fail(error(for: reason)) }
    self.stream = nil
    pump = nil
    order.registry.leave(order.id)
  }

  /// Handles the next event of the response. Returns whether another can follow.
  private func takeNext(
    _ bytes: UnsafeRawBufferPointer, from offset: inout Int, _ stream: ByteStream,
    on reactor: isolated Reactor
  ) throws(HTTPClientError) -> Bool {
    let event: ClientConnectionEvent
    do throws(ResponseError) {
      event = try wire.next(bytes, from: &offset)
    } catch {
      throw HTTPClientError(error)
    }
    switch event {
    case .needMore:
      return false
    case .continue:
      return true
    case .response:
      guard wire.head.status == 101 else { throw .upgradeRefused(status: wire.head.status) }
      try switchProtocols(stream, on: reactor)
      return true
    case .switchedBytes(let range):
      // The server's first frames can come with its response.
      pump?.received(UnsafeRawBufferPointer(rebasing: bytes[range]))
      return false
    case .content, .endOfResponse:
      return false
    }
  }

  private func switchProtocols(
    _ stream: ByteStream, on reactor: isolated Reactor
  ) throws(HTTPClientError) {
    let agreement: WebSocketAgreement
    do throws(WebSocketHandshakeFault) {
      agreement = try order.handshake.check(wire.head)
    } catch {
      throw .upgradeMalformed(error)
    }
    timer?.cancel()
    timer = nil
    let connection = WebSocketConnection(
      role: .client, limits: order.limits, deflate: agreement.deflate, makeMask: order.makeMask)
    let channel = WebSocketChannel(connection, stream: stream, limits: order.limits, on: reactor)
    pump = channel.pump(on: reactor)
    completion.take()?(
      .success(WebSocketClientConnection(channel, subprotocol: agreement.subprotocol)))
  }

  private func error(for reason: CloseReason) -> HTTPClientError {
    if hasSent {
      return wire.hasResponseBytes ? .responseTruncated : .connectionLost
    }
    return HTTPClientError(connecting: reason)
  }
}

/// A connection as a caller orders it.
struct WebSocketOrder: Sendable {
  let id: Int
  let registry: WebSocketRegistry
  /// The request.
  let head: [UInt8]
  let handshake: WebSocketClientHandshake
  let limits: WebSocketLimits
  let handshakeTimeout: Duration
  let makeMask: @Sendable () -> UInt32
}
