package import HTTPWire

/// A client's handshake request, checked (RFC 6455 section 4.2.1).
package struct WebSocketServerHandshake: Sendable {
  /// The subprotocols that the client offers, in its order of preference.
  package let subprotocols: [String]

  private let key: [UInt8]
  private let extensions: ExtensionList

  /// Returns whether a request asks for a WebSocket, whether or not its handshake is valid.
  package static func isRequested(by head: borrowing RequestHead) -> Bool {
    guard head.asksForUpgrade, let protocols = head.fields.joined("upgrade") else { return false }
    return TokenList(protocols.text).contains("websocket")
  }

  package init(_ head: borrowing RequestHead) throws(WebSocketHandshakeFault) {
    guard head.minorVersion >= 1 else { throw .oldHTTP }
    guard Self.isRequested(by: head) else { throw .noUpgrade }
    guard head.method == .get else { throw .notGET }
    guard !head.hasBody else { throw .hasContent }
    let versions = head.fields.values("sec-websocket-version")
    guard let version = versions.first else { throw .missingVersion }
    guard versions.count == 1, version.text == "13" else { throw .unsupportedVersion }
    let keys = head.fields.values("sec-websocket-key")
    guard let key = keys.first else { throw .missingKey }
    guard keys.count == 1 else { throw .repeatedKey }
    guard WebSocketKey.isValid(key) else { throw .malformedKey }
    self.key = Array(key)
    subprotocols = try Self.subprotocols(head.fields.joined("sec-websocket-protocol"))
    guard let list = ExtensionList(head.fields.joined("sec-websocket-extensions") ?? []) else {
      throw .malformedExtensions
    }
    extensions = list
  }

  /// Returns the first offered subprotocol that the server supports.
  package func firstSubprotocol(of supported: [String]) -> String? {
    subprotocols.first { supported.contains($0) }
  }

  /// Chooses the parameters of the connection.
  ///
  /// - Parameter subprotocol: one of those offered; nil for none. Another one is left out, as the client
  ///   would have to refuse it.
  /// - Returns: the agreement, and the fields of the 101 response that state it.
  package func agree(
    subprotocol: String?, deflate policy: WebSocketDeflatePolicy
  ) -> (agreement: WebSocketAgreement, fields: [(name: StaticString, value: String)]) {
    var agreement = WebSocketAgreement()
    var fields: [(name: StaticString, value: String)] = [
      ("Upgrade", "websocket"), ("Connection", "Upgrade"),
      ("Sec-WebSocket-Accept", WebSocketKey.accept(key)),
    ]
    if let subprotocol, subprotocols.contains(subprotocol) {
      agreement.subprotocol = subprotocol
      fields.append(("Sec-WebSocket-Protocol", subprotocol))
    }
    if let (deflate, response) = WebSocketDeflate.accept(extensions, policy: policy) {
      agreement.deflate = deflate
      fields.append(("Sec-WebSocket-Extensions", response))
    }
    return (agreement, fields)
  }

  private static func subprotocols(
    _ value: ArraySlice<UInt8>?
  ) throws(WebSocketHandshakeFault) -> [String] {
    guard let value else { return [] }
    var names: [String] = []
    for element in value.split(separator: UInt8(ascii: ",")) {
      let element = element.trimmingBlanks
      if element.isEmpty { continue }
      guard let name = ExtensionList.token(element), !names.contains(name) else {
        throw .malformedSubprotocols
      }
      names.append(name)
    }
    guard !names.isEmpty else { throw .malformedSubprotocols }
    return names
  }
}
