import HTTPTypes
import HTTPWire
import Transport
import WebSocketWire

extension HTTPClient {
  /// The fields that only the handshake sets.
  private static let handshakeFields = "sec-websocket-"

  /// Opens a WebSocket connection (RFC 6455), on a loop of its own choice. It counts separately from the
  /// pool's connections and has no circuit breaker: the caller decides when to try again.
  ///
  /// A cancelled task ends the handshake. It does not end the connection once that is open.
  ///
  /// - Throws: ``HTTPClientError/upgradeRefused(status:)`` with the status of any response but 101, so
  ///   that refused credentials (401, 403) differ from an outage.
  package func openWebSocket(
    _ request: WebSocketRequest
  ) async throws(HTTPClientError) -> WebSocketClientConnection {
    let handshake = WebSocketClientHandshake(
      nonce: (0..<4).flatMap { _ in randomWord().bytes }, subprotocols: request.subprotocols,
      deflate: request.limits.deflate)
    let head = try Self.head(of: request, handshake)
    let origin = request.url.origin
    if origin.scheme == .https, tls == nil {
      throw .tls(.handshake("the HTTP client has no TLS context"))
    }
    let order = WebSocketOrder(
      id: try webSockets.enter(), registry: webSockets, head: head, handshake: handshake,
      limits: request.limits, handshakeTimeout: request.handshakeTimeout,
      makeMask: { [random] in Self.word(random()) })
    let reactor = group.next()
    let tls = origin.scheme == .https ? tls : nil
    let result = await withTaskCancellationHandler {
      await reactor.dial(order, to: origin.endpoint, tls: tls)
    } onCancel: {
      Task { await reactor.cancelDial(order) }
    }
    return try result.get()
  }

  private func randomWord() -> UInt32 { Self.word(random()) }

  /// A number of 32 bits from one between 0 and 1.
  private static func word(_ fraction: Double) -> UInt32 {
    UInt32(min(max(fraction, 0) * 4_294_967_296, 4_294_967_295))
  }

  private static func head(
    of request: WebSocketRequest, _ handshake: WebSocketClientHandshake
  ) throws(HTTPClientError) -> [UInt8] {
    do throws(RequestHeadWriter.Fault) {
      var writer = try RequestHeadWriter(
        method: .get, target: request.url.target,
        authority: request.authority ?? request.url.origin.authority)
      for field in request.fields {
        let name = field.name.canonicalName
        if RenderedRequest.ownFields.contains(name) || name.hasPrefix(handshakeFields) {
          throw .fieldName
        }
        try writer.add(field.name.rawName, field.value)
      }
      for field in handshake.fields { try writer.add(field.name, field.value) }
      return writer.finish(framing: .none)
    } catch {
      throw .invalidRequest("\(error)")
    }
  }
}

extension UInt32 {
  fileprivate var bytes: [UInt8] {
    [UInt8(self >> 24), UInt8(self >> 16 & 255), UInt8(self >> 8 & 255), UInt8(self & 255)]
  }
}

extension Reactor {
  fileprivate func dial(
    _ order: WebSocketOrder, to endpoint: Endpoint, tls: TLSClientContext?
  ) async -> Result<WebSocketClientConnection, HTTPClientError> {
    // A cancellation before this point found no handshake to cancel.
    if Task.isCancelled {
      order.registry.leave(order.id)
      return .failure(.cancelled(wasSent: false))
    }
    return await withCheckedContinuation { continuation in
      let dialer = WebSocketDialer(order, on: self) { continuation.resume(returning: $0) }
      dialer.dial(endpoint, tls: tls, on: self)
      if !order.registry.note(LoopBound(dialer, on: self), as: order.id) {
        dialer.end(.clientClosed)
      }
    }
  }

  fileprivate func cancelDial(_ order: WebSocketOrder) {
    order.registry.dialer(order.id)?.get(on: self).cancel()
  }
}
