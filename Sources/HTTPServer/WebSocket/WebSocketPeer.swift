package import WebSocketWire
package import WebSockets

/// The client at the other end of a WebSocket connection of the server.
///
/// Received messages wait for the reader up to the connection's limits; beyond them the socket is not
/// read. The server pings the client, and the connection ends as lost (1006) if no answer comes. When the
/// server shuts down, the connection is closed with 1001.
package final class WebSocketPeer: Sendable {
  /// The agreed subprotocol; nil for none.
  package let subprotocol: String?

  private let channel: WebSocketChannel

  package init(_ channel: WebSocketChannel, subprotocol: String?) {
    self.channel = channel
    self.subprotocol = subprotocol
  }

  /// Sends a message, once there is room for it. Messages of one task are sent in order.
  ///
  /// - Throws: the end of the connection; `WebSocketClose.cancelled` if the task is cancelled while it
  ///   waits for room.
  package func send(_ message: WebSocketMessage) async throws(WebSocketClose) {
    try await channel.send(message)
  }

  /// Returns the next message. Supports one reader at a time.
  ///
  /// - Throws: the end of the connection, after the messages before it; `WebSocketClose.cancelled` if the
  ///   task is cancelled while it waits.
  package func next() async throws(WebSocketClose) -> WebSocketMessage {
    try await channel.next()
  }

  /// Sets what handles messages on the connection's loop, before the reader gets them: for those that can
  /// be answered without waiting.
  package func handleNow(_ handler: @escaping WebSocketImmediateHandler) {
    channel.handleNow(handler)
  }

  /// Begins to close the connection and returns at once. Messages that wait for the reader are dropped.
  /// Does nothing if the connection is closing or closed.
  package func close(code: UInt16, reason: String) {
    channel.close(code: code, reason: reason)
  }
}
