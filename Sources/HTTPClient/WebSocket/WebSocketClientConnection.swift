package import WebSocketWire
import WebSockets

/// An open WebSocket connection to a server. Releasing it closes the connection.
///
/// Received messages wait for the reader up to the request's limits; beyond them the socket is not read.
/// The connection pings the server, and ends as lost (1006) if no answer comes.
package final class WebSocketClientConnection: Sendable {
  /// The subprotocol that the server chose; nil for none.
  package let subprotocol: String?

  private let channel: WebSocketChannel

  init(_ channel: WebSocketChannel, subprotocol: String?) {
    self.channel = channel
    self.subprotocol = subprotocol
  }

  deinit {
    channel.close(code: WebSocketClose.goingAway, reason: "")
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
  ///   task is cancelled while it waits, which does not close the connection.
  package func next() async throws(WebSocketClose) -> WebSocketMessage {
    try await channel.next()
  }

  /// Begins to close the connection and returns at once. Messages that wait for the reader are dropped.
  /// Does nothing if the connection is closing or closed.
  package func close(code: UInt16, reason: String) {
    channel.close(code: code, reason: reason)
  }
}
