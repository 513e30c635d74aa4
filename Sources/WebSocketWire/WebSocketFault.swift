/// A violation of the protocol, or of a limit, by the peer. The connection ends with ``closeCode``.
package enum WebSocketFault: Error, Sendable, Equatable, CaseIterable {
  /// A reserved bit without an extension that uses it (RFC 6455 section 5.2).
  case reservedBits
  case reservedOpcode
  /// A client's frame without a mask, at the server (RFC 6455 section 5.1).
  case unmaskedFrame
  /// A server's frame with a mask, at the client.
  case maskedFrame
  case fragmentedControlFrame
  case controlFrameTooLong
  /// A length in more bytes than it needs.
  case lengthNotMinimal
  /// A length with the highest bit set.
  case lengthTooLarge
  /// A continuation without a message to continue.
  case unexpectedContinuation
  /// A new message before the end of the one before.
  case missingContinuation
  case messageTooLarge
  case invalidUTF8
  /// A close frame's payload of one byte.
  case truncatedCloseCode
  case invalidCloseCode
  case invalidCloseReason
  /// Compressed data that cannot be decompressed.
  case malformedDeflate
  /// Compressed data that grows far more than any real message.
  case deflateRatio

  /// The code of the close frame (RFC 6455 section 7.4.1).
  package var closeCode: UInt16 {
    switch self {
    case .reservedBits, .reservedOpcode, .unmaskedFrame, .maskedFrame, .fragmentedControlFrame,
      .controlFrameTooLong, .lengthNotMinimal, .lengthTooLarge, .unexpectedContinuation,
      .missingContinuation, .truncatedCloseCode, .invalidCloseCode:
      WebSocketClose.protocolError
    case .invalidUTF8, .invalidCloseReason, .malformedDeflate:
      WebSocketClose.invalidPayload
    case .messageTooLarge, .deflateRatio:
      WebSocketClose.messageTooLarge
    }
  }

  /// One sentence for the peer and for logs.
  package var explanation: String {
    switch self {
    case .reservedBits: "a frame has reserved bits set"
    case .reservedOpcode: "a frame has a reserved opcode"
    case .unmaskedFrame: "a client's frame must be masked"
    case .maskedFrame: "a server's frame must not be masked"
    case .fragmentedControlFrame: "a control frame must not be fragmented"
    case .controlFrameTooLong: "a control frame has more than 125 bytes"
    case .lengthNotMinimal: "a frame's length is not in its shortest form"
    case .lengthTooLarge: "a frame's length has its highest bit set"
    case .unexpectedContinuation: "a continuation frame continues no message"
    case .missingContinuation: "a message began before the end of the one before"
    case .messageTooLarge: "a message exceeds the size limit"
    case .invalidUTF8: "a text message is not valid UTF-8"
    case .truncatedCloseCode: "a close frame has one byte of payload"
    case .invalidCloseCode: "a close frame has a code that must not be sent"
    case .invalidCloseReason: "a close frame's reason is not valid UTF-8"
    case .malformedDeflate: "a compressed message cannot be decompressed"
    case .deflateRatio: "a compressed message grows too much"
    }
  }

  /// The close frame for the peer.
  package var close: WebSocketClose { WebSocketClose(code: closeCode, reason: explanation) }
}
