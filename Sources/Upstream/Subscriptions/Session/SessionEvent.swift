/// What a session is notified of.
enum SessionEvent: Sendable {
  /// A subscription to start, with a number that no other has had.
  case subscribe(Int, SubscriptionRequest, wasEstablished: Bool)
  case cancel(Int)
  /// The connection is made; for a WebSocket with the subprotocol that the server chose.
  case opened(subprotocol: String?)
  case openingFailed(UpstreamFailure)
  case message(UpstreamMessage)
  /// The connection has ended. 1005: without a code; 1006: lost.
  case closed(code: UInt16)
  /// The session's deadline has passed.
  case tick
  /// The connection is not read until there is room for events.
  case paused
  case resumed
  /// Newer headers of the same credential, for the next connection.
  case offered(CallHeaders)
  /// More messages wait to be sent than the limit allows.
  case overflowed
  /// Ends everything: the process is shutting down.
  case stopped
}

/// What a session wants done, in order.
enum SessionAction: Sendable {
  /// Makes a connection.
  case open(CallHeaders, isReconnect: Bool)
  /// Sends a text message on the connection.
  case send([UInt8])
  case deliver(Int, SubscriptionDelivery)
  /// Ends the connection, or the attempt to make it. Nothing of it is reported afterwards.
  case close(code: UInt16, reason: String)
  /// Starts a subscription on another connection, since this one has as many as the server allows.
  case relocate(Int)
}

/// An event of one subscription before its payload is read.
enum SubscriptionDelivery: Sendable {
  case established(afterGap: Bool)
  case next(SubscriptionPayload)
  case interrupted(UpstreamFailure)
  case complete
  case failed(UpstreamFailure)

  var isLast: Bool {
    switch self {
    case .complete, .failed: true
    case .established, .next, .interrupted: false
    }
  }
}
