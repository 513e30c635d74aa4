import Cryptography
package import HTTPWire

/// A client's handshake: the fields of its request, and the check of the response (RFC 6455 section 4.1).
package struct WebSocketClientHandshake: Sendable {
  private let key: String
  private let subprotocols: [String]
  private let policy: WebSocketDeflatePolicy

  /// - Parameters:
  ///   - nonce: 16 unpredictable bytes, new for each handshake.
  ///   - subprotocols: in order of preference; empty for none.
  ///   - policy: which compression to offer.
  package init(nonce: [UInt8], subprotocols: [String], deflate policy: WebSocketDeflatePolicy) {
    precondition(nonce.count == WebSocketKey.byteCount, "a nonce has 16 bytes")
    key = Base64Block.encode(nonce)
    self.subprotocols = subprotocols
    self.policy = policy
  }

  /// The fields of the request, besides `Host` and the caller's own.
  package var fields: [(name: String, value: String)] {
    var fields = [
      (name: "Upgrade", value: "websocket"), (name: "Connection", value: "Upgrade"),
      (name: "Sec-WebSocket-Key", value: key), (name: "Sec-WebSocket-Version", value: "13"),
    ]
    if !subprotocols.isEmpty {
      fields.append(
        (name: "Sec-WebSocket-Protocol", value: subprotocols.joined(separator: ", ")))
    }
    if let offer = WebSocketDeflate.offer(policy) {
      fields.append((name: "Sec-WebSocket-Extensions", value: offer))
    }
    return fields
  }

  /// Checks a 101 response, whose `Connection` names `Upgrade`.
  package func check(_ head: ResponseHead) throws(WebSocketHandshakeFault) -> WebSocketAgreement {
    let upgrades = head.fields.values("upgrade")
    guard upgrades.count == 1, upgrades[0].equalsIgnoringCase("websocket") else {
      throw .otherProtocol
    }
    let proofs = head.fields.values("sec-websocket-accept")
    guard let proof = proofs.first else { throw .missingAccept }
    guard proofs.count == 1, proof.text == WebSocketKey.accept(key.utf8) else {
      throw .wrongAccept
    }
    return WebSocketAgreement(
      subprotocol: try subprotocol(head), deflate: try deflate(head))
  }

  private func subprotocol(_ head: ResponseHead) throws(WebSocketHandshakeFault) -> String? {
    let chosen = head.fields.values("sec-websocket-protocol")
    guard let first = chosen.first else { return nil }
    guard chosen.count == 1, subprotocols.contains(first.text) else {
      throw .unofferedSubprotocol
    }
    return first.text
  }

  private func deflate(_ head: ResponseHead) throws(WebSocketHandshakeFault) -> WebSocketDeflate? {
    guard let value = head.fields.joined("sec-websocket-extensions") else { return nil }
    guard let list = ExtensionList(value) else { throw .unofferedExtension }
    guard let element = list.elements.first else { return nil }
    guard list.elements.count == 1, policy.isOn,
      let deflate = WebSocketDeflate(response: element, to: policy)
    else { throw .unofferedExtension }
    return deflate
  }
}
