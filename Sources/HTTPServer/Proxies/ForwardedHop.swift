package import Transport

/// One step of a request's way, as the proxy tells that took it in.
package struct ForwardedHop: Sendable, Equatable {
  /// Who sent it to that proxy; nil where the proxy does not tell, or hides it behind a name.
  package var address: SocketAddress?
  /// Whether it came over TLS; nil where nothing is told.
  package var isSecure: Bool?
  /// The authority it was sent to.
  package var host: String?

  package init(address: SocketAddress? = nil, isSecure: Bool? = nil, host: String? = nil) {
    self.address = address
    self.isSecure = isSecure
    self.host = host
  }
}
