package import HTTPClient
package import HTTPTypes

/// Opens WebSockets: the HTTP client, or a script in tests.
package protocol WebSocketOpening: Sendable {
  func open(_ offer: WebSocketOffer) async throws(UpstreamFailure) -> any SubscriptionSocket
}

/// The handshake of a WebSocket for subscriptions.
package struct WebSocketOffer: Sendable {
  /// With `http` for `ws` and `https` for `wss`.
  package let url: HTTPURL
  package let fields: HTTPFields
  /// The preferred one first.
  package let subprotocols: [String]
  /// Maximum size of a message of the server; a larger one closes the connection with 1009.
  package let messageBytesMax: Int
  /// Maximum time until the handshake is complete.
  package let timeout: Duration
}

/// An open WebSocket with text messages. Has one reader and one writer.
package protocol SubscriptionSocket: Sendable {
  /// The server's choice; nil if it chose none.
  var subprotocol: String? { get }

  /// Sends a text message; waits until there is room for it.
  func send(_ text: [UInt8]) async throws(SocketEnd)

  /// Returns the next text message, which is valid UTF-8.
  func next() async throws(SocketEnd) -> [UInt8]

  /// Closes the connection. Returns at once; has no effect on a closed one.
  func close(code: UInt16, reason: String)
}

/// The end of a WebSocket.
package struct SocketEnd: Error, Equatable, Sendable {
  /// The close code; 1005: without a code, 1006: the connection was lost.
  package let code: UInt16

  package init(code: UInt16) {
    self.code = code
  }
}
