/// The limits of one WebSocket connection, in bytes, counts and time.
package struct WebSocketLimits: Sendable, Equatable {
  /// Bytes of a received message, all fragments together and decompressed. A longer one ends the
  /// connection with 1009, before room for it is allocated.
  package var messageBytesMax = 4 << 20
  /// Received messages that wait for the reader. Above it the socket is not read.
  package var waitingMessagesMax = 64
  /// The same in bytes; one message more is kept in any case.
  package var waitingBytesMax = 256 << 10
  /// Unsent bytes above which `send` waits.
  package var outgoingBytesMax = 256 << 10
  /// The longest pause in which the peer reads nothing although bytes wait for it.
  package var sendStallMax: Duration = .seconds(30)
  /// The minimum mean speed of a peer's reading, once it has taken longer than `sendStallMax`.
  package var sendBytesPerSecondMin = 240

  /// Between two pings of this side; `.zero` sends none.
  package var pingInterval: Duration = .seconds(30)
  /// From a ping to the next bytes of the peer, before the connection counts as lost.
  package var pongTimeout: Duration = .seconds(20)
  /// From this side's close frame to the end of the connection, before it is reset.
  package var closeTimeout: Duration = .seconds(5)
  /// Bytes read and dropped after a fault, so that the close frame is not lost to a reset.
  package var lingerBytesMax = 16 << 20

  /// The use of permessage-deflate.
  package var deflate = WebSocketDeflatePolicy()

  package init() {}

  /// The defaults of a client, whose messages come from an upstream.
  package static var client: WebSocketLimits {
    var limits = WebSocketLimits()
    limits.messageBytesMax = 16 << 20
    limits.waitingMessagesMax = 256
    limits.waitingBytesMax = 1 << 20
    return limits
  }
}

/// Which compression a side agrees to, and what it compresses.
package struct WebSocketDeflatePolicy: Sendable, Equatable {
  /// Whether to offer it, as a client, or accept an offer, as a server.
  package var isOn = true
  /// Whether each direction can refer to earlier messages. A window is 32 KiB for the receiver, and 256 KiB
  /// of state for the sender, for each connection: servers of many clients keep none.
  package var keepsContext = false
  /// The smallest message that is compressed.
  package var messageBytesMin = 1024
  /// The largest message that is compressed: compressing runs on the connection's loop.
  package var messageBytesMax = 128 << 10

  package init() {}
}
