/// A message of a WebSocket connection (RFC 6455 section 5.6).
package enum WebSocketMessage: Sendable, Equatable {
  /// Valid UTF-8.
  case text([UInt8])
  case binary([UInt8])

  package init(text: String) {
    self = .text(Array(text.utf8))
  }

  /// The payload of either kind.
  package var bytes: [UInt8] {
    switch self {
    case .text(let bytes), .binary(let bytes): bytes
    }
  }

  package var isText: Bool {
    switch self {
    case .text: true
    case .binary: false
    }
  }
}

/// The end of a WebSocket connection: a close frame's code and reason, or one of the two codes that are
/// never sent (RFC 6455 section 7.4).
package struct WebSocketClose: Error, Sendable, Equatable {
  /// 1005 if the close frame had no code, 1006 if the connection was lost without a close frame.
  package var code: UInt16
  package var reason: String

  package init(code: UInt16, reason: String = "") {
    self.code = code
    self.reason = reason
  }
}

extension WebSocketClose {
  package static let normal: UInt16 = 1000
  package static let goingAway: UInt16 = 1001
  static let protocolError: UInt16 = 1002
  package static let unsupportedData: UInt16 = 1003
  package static let noCode: UInt16 = 1005
  package static let lost: UInt16 = 1006
  static let invalidPayload: UInt16 = 1007
  static let messageTooLarge: UInt16 = 1009
  package static let internalError: UInt16 = 1011

  /// Bytes of UTF-8 that a close frame has room for beside the code.
  package static let reasonBytesMax = 123

  /// A connection that ended without a close frame.
  package static func lost(_ reason: String) -> WebSocketClose {
    WebSocketClose(code: lost, reason: reason)
  }

  /// The end of a wait whose task was cancelled; the connection itself goes on.
  package static let cancelled = WebSocketClose.lost("the waiting task was cancelled")

  /// Whether the connection ended without a close frame of the peer or of this side.
  package var isLost: Bool { code == Self.lost }

  /// Returns whether a close frame can have this code: those of RFC 6455 section 7.4.1, those registered
  /// since (1012–1014), and the ranges of libraries and applications.
  package static func canBeSent(_ code: UInt16) -> Bool {
    switch code {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }

  /// The reason, cut to what a close frame has room for, at the end of a character.
  var fittedReason: String {
    guard reason.utf8.count > Self.reasonBytesMax else { return reason }
    var fitted = ""
    var count = 0
    for scalar in reason.unicodeScalars {
      count += scalar.utf8.count
      guard count <= Self.reasonBytesMax else { break }
      fitted.unicodeScalars.append(scalar)
    }
    return fitted
  }
}

/// A side of a WebSocket connection. Only the client masks its frames (RFC 6455 section 5.1).
package enum WebSocketRole: Sendable, Equatable {
  case client
  case server
}
