import WebSocketWire

/// A handler's decision to serve a WebSocket connection.
package struct WebSocketUpgrade: Sendable {
  /// One of those that the client offers; nil for none.
  let subprotocol: String?
  let limits: WebSocketLimits
  let serve: @Sendable (WebSocketPeer) async -> Void
}
