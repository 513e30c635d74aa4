/// Negotiation of permessage-deflate (RFC 7692 section 7.1).
extension WebSocketDeflate {
  static let extensionName = "permessage-deflate"

  private static let serverNoContext = "server_no_context_takeover"
  private static let clientNoContext = "client_no_context_takeover"
  private static let serverBits = "server_max_window_bits"
  private static let clientBits = "client_max_window_bits"

  /// The parameters of an offer or a response, each at most once and with a valid value.
  private struct Parameters {
    var serverNoContext = false
    var clientNoContext = false
    var serverBits: Int?
    /// Nil if absent; zero if present without a value, which only an offer can have.
    var clientBits: Int?

    /// Nil for an unknown, repeated or malformed parameter.
    init?(_ element: ExtensionList.Element) {
      guard element.name == extensionName else { return nil }
      var seen: Set<String> = []
      for parameter in element.parameters {
        guard seen.insert(parameter.name).inserted else { return nil }
        switch (parameter.name, parameter.value) {
        case (WebSocketDeflate.serverNoContext, nil): serverNoContext = true
        case (WebSocketDeflate.clientNoContext, nil): clientNoContext = true
        case (WebSocketDeflate.serverBits, let value?):
          guard let bits = WebSocketDeflate.windowBits(value) else { return nil }
          serverBits = bits
        case (WebSocketDeflate.clientBits, nil): clientBits = 0
        case (WebSocketDeflate.clientBits, let value?):
          guard let bits = WebSocketDeflate.windowBits(value) else { return nil }
          clientBits = bits
        default: return nil
        }
      }
    }
  }

  /// Parses a window size: decimal without leading zeros.
  private static func windowBits(_ value: String) -> Int? {
    guard value.utf8.count <= 2, !value.hasPrefix("0"),
      value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let bits = Int(value),
      windowBitsRange.contains(bits)
    else { return nil }
    return bits
  }

  /// Returns what a server agrees to: the first offer that it can keep; nil if there is none.
  static func accept(
    _ offers: ExtensionList, policy: WebSocketDeflatePolicy
  ) -> (agreed: WebSocketDeflate, response: String)? {
    guard policy.isOn else { return nil }
    for offer in offers.elements {
      // zlib cannot compress with the smallest window.
      guard let parameters = Parameters(offer), parameters.serverBits != windowBitsRange.lowerBound
      else { continue }
      return accept(parameters, policy: policy)
    }
    return nil
  }

  private static func accept(
    _ offer: Parameters, policy: WebSocketDeflatePolicy
  ) -> (agreed: WebSocketDeflate, response: String) {
    var agreed = WebSocketDeflate()
    var response = extensionName
    if offer.serverNoContext || !policy.keepsContext {
      agreed.serverKeepsContext = false
      response += "; \(serverNoContext)"
    }
    // The server can require it of the client, offered or not.
    if offer.clientNoContext || !policy.keepsContext {
      agreed.clientKeepsContext = false
      response += "; \(clientNoContext)"
    }
    if let bits = offer.serverBits {
      agreed.serverWindowBits = bits
      response += "; \(serverBits)=\(bits)"
    }
    if let bits = offer.clientBits, bits > 0 {
      agreed.clientWindowBits = bits
      response += "; \(clientBits)=\(bits)"
    }
    return (agreed, response)
  }

  /// The offer of a client.
  static func offer(_ policy: WebSocketDeflatePolicy) -> String? {
    guard policy.isOn else { return nil }
    let takeover = policy.keepsContext ? "" : "; \(serverNoContext); \(clientNoContext)"
    return "\(extensionName)\(takeover); \(clientBits)"
  }

  /// Checks a server's response to ``offer(_:)``; nil if it does not fit the offer.
  init?(response: ExtensionList.Element, to policy: WebSocketDeflatePolicy) {
    guard let parameters = Parameters(response), parameters.clientBits != 0,
      // An offered restriction of the server must be in the response.
      policy.keepsContext || parameters.serverNoContext
    else { return nil }
    self.init()
    serverKeepsContext = !parameters.serverNoContext
    clientKeepsContext = policy.keepsContext && !parameters.clientNoContext
    serverWindowBits = parameters.serverBits ?? 15
    clientWindowBits = parameters.clientBits ?? 15
  }
}
