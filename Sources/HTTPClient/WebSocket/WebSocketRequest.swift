package import HTTPTypes
package import WebSocketWire

/// A WebSocket connection to open.
package struct WebSocketRequest: Sendable {
  /// With the scheme `http` or `https`; see ``HTTPURL/init(webSocket:)``.
  package var url: HTTPURL
  /// The caller's fields. `Host`, `Connection` and the other fields of the connection are set by the
  /// client and refused here, and so are those of the handshake, `Sec-WebSocket-…`.
  package var fields: HTTPFields
  /// In order of preference; empty for none.
  package var subprotocols: [String]
  package var limits: WebSocketLimits
  /// Name lookup, connect, TLS handshake and the response together.
  package var handshakeTimeout: Duration

  package init(
    url: HTTPURL, fields: HTTPFields = [:], subprotocols: [String] = [],
    limits: WebSocketLimits = .client, handshakeTimeout: Duration = .seconds(10)
  ) {
    self.url = url
    self.fields = fields
    self.subprotocols = subprotocols
    self.limits = limits
    self.handshakeTimeout = handshakeTimeout
  }

  /// Between two pings of this side; `.zero` sends none.
  package var pingInterval: Duration {
    get { limits.pingInterval }
    set { limits.pingInterval = newValue }
  }

  /// From a ping to the next bytes of the server, before the connection counts as lost.
  package var pongTimeout: Duration {
    get { limits.pongTimeout }
    set { limits.pongTimeout = newValue }
  }

  /// Whether to offer permessage-deflate.
  package var offersDeflate: Bool {
    get { limits.deflate.isOn }
    set { limits.deflate.isOn = newValue }
  }
}

extension HTTPURL {
  /// Parses a URL that can also have the scheme `ws` or `wss` (RFC 6455 section 3), which are read as
  /// `http` and `https`.
  package init(webSocket text: String) throws(Fault) {
    let scheme = text.prefix { $0 != ":" }
    switch scheme.lowercased() {
    case "ws": try self.init("http" + text.dropFirst(scheme.count))
    case "wss": try self.init("https" + text.dropFirst(scheme.count))
    default: try self.init(text)
    }
  }
}
