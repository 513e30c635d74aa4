import HTTPWire
package import WebSocketWire

extension ServerRequest {
  /// Whether the request asks for a WebSocket, whether or not its handshake is valid.
  package var asksForWebSocket: Bool { WebSocketServerHandshake.isRequested(by: head) }

  /// The request's WebSocket handshake.
  ///
  /// - Throws: the reason that it is not valid; ``WebSocketHandshakeFault/noUpgrade`` if the request asks
  ///   for none.
  package var webSocketHandshake: WebSocketServerHandshake {
    get throws(WebSocketHandshakeFault) { try WebSocketServerHandshake(head) }
  }
}
