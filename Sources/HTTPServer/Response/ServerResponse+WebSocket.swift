import HTTPTypes
package import WebSocketWire

extension ServerResponse {
  /// Makes the response that switches the connection to WebSocket (RFC 6455).
  ///
  /// The server checks the request's handshake first, and responds with 400, 405 or 426 if it is not
  /// valid. `fields` can be added to the 101 response.
  ///
  /// - Parameters:
  ///   - subprotocol: one of the request's `webSocketHandshake.subprotocols`; nil for none.
  ///   - serve: serves the connection. It runs on the connection's loop, where it must neither block nor
  ///     compute for long, and is cancelled when the connection has closed. When it returns, the connection
  ///     is closed with 1000.
  package static func webSocket(
    subprotocol: String?, limits: WebSocketLimits = WebSocketLimits(),
    serve: @escaping @Sendable (WebSocketPeer) async -> Void
  ) -> ServerResponse {
    ServerResponse(
      status: .switchingProtocols,
      body: .webSocket(
        WebSocketUpgrade(subprotocol: subprotocol, limits: limits, serve: serve)))
  }
}
