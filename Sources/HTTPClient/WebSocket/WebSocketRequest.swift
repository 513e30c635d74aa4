package import HTTPTypes
package import WebSocketWire

/// A WebSocket connection to open.
package struct WebSocketRequest: Sendable {
  /// With the scheme `http` or `https`.
  package var url: HTTPURL
  /// The value of `Host`; nil for the authority of `url`.
  package var authority: String?
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
}
