/// The reason a handshake is not valid (RFC 6455 section 4).
package enum WebSocketHandshakeFault: Error, Sendable, Equatable, CaseIterable {
  // A client's request.

  /// The request asks for no upgrade to `websocket`, or its `Connection` does not name `Upgrade`.
  case noUpgrade
  case notGET
  /// An HTTP/1.0 request.
  case oldHTTP
  /// The request has content, whose end could be mistaken.
  case hasContent
  case missingKey
  case repeatedKey
  /// The key is not 16 bytes in base64.
  case malformedKey
  case missingVersion
  /// Any version but 13.
  case unsupportedVersion
  case malformedSubprotocols
  case malformedExtensions

  // A server's response.

  /// `Upgrade` names another protocol.
  case otherProtocol
  case missingAccept
  /// The server has not read this request's key.
  case wrongAccept
  /// The server chose a subprotocol that was not offered, or more than one.
  case unofferedSubprotocol
  /// The server chose an extension that was not offered, or parameters that do not fit the offer.
  case unofferedExtension

  /// The status of the response to such a request.
  package var status: Int {
    switch self {
    case .noUpgrade, .unsupportedVersion: 426
    case .notGET: 405
    default: 400
    }
  }

  /// One sentence for the sender of the request or the operator.
  package var explanation: StaticString {
    switch self {
    case .noUpgrade: "This path needs a WebSocket: send Connection: Upgrade and Upgrade: websocket."
    case .notGET: "A WebSocket handshake must be a GET request."
    case .oldHTTP: "A WebSocket handshake needs HTTP/1.1."
    case .hasContent: "A WebSocket handshake must have no content."
    case .missingKey: "The Sec-WebSocket-Key header field is missing."
    case .repeatedKey: "There is more than one Sec-WebSocket-Key header field."
    case .malformedKey: "The Sec-WebSocket-Key header field must be 16 bytes in base64."
    case .missingVersion: "The Sec-WebSocket-Version header field is missing; send 13."
    case .unsupportedVersion: "The only WebSocket version this server supports is 13."
    case .malformedSubprotocols: "The Sec-WebSocket-Protocol header field is not valid."
    case .malformedExtensions: "The Sec-WebSocket-Extensions header field is not valid."
    case .otherProtocol: "The server switched to a protocol other than websocket."
    case .missingAccept: "The response has no Sec-WebSocket-Accept header field."
    case .wrongAccept: "The response's Sec-WebSocket-Accept does not belong to the request's key."
    case .unofferedSubprotocol: "The server chose a subprotocol that was not offered."
    case .unofferedExtension: "The server chose an extension that was not offered."
    }
  }
}
