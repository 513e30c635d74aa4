package import Transport

/// How a server is set up, apart from its handler.
package struct HTTPServerConfiguration: Sendable {
  /// Where to listen, and with which certificates.
  package struct Listener: Sendable {
    package var endpoint: Endpoint
    /// `nil` for plain HTTP.
    package var tls: TLSServerContext?
    /// What answers here; `nil` for the server's own handler.
    package var handler: (any RequestHandler)?

    package init(
      _ endpoint: Endpoint, tls: TLSServerContext? = nil, handler: (any RequestHandler)? = nil
    ) {
      self.endpoint = endpoint
      self.tls = tls
      self.handler = handler
    }
  }

  /// Steps of a graceful end.
  package struct Drain: Sendable {
    /// Called first: readiness checks should fail from now on.
    package var notReady: @Sendable () -> Void = {}
    /// Between that and the end of accepting, so that balancers notice.
    package var delay: Duration = .zero
    /// From then on, no connection begins; those that have begun by then may take this long until
    /// they are made. A segment's way there and back: those that take longer are reset.
    package var handshakes: Duration = .milliseconds(300)
    /// From the end of the delay until what is left is cut off.
    package var deadline: Duration = .seconds(20)

    package init() {}
  }

  package var listeners: [Listener]
  package var limits: ServerLimits
  package var drain: Drain
  /// Whose word about the client is believed.
  package var proxies = TrustedProxies.none
  /// Whether many clients may come from an address besides those of `proxies`: the bound on one
  /// address's connections is not for these.
  package var isShared: @Sendable (SocketAddress) -> Bool = { _ in false }
  /// `nil` for none.
  package var rateLimit: RateLimit?
  /// What every response says in `Strict-Transport-Security` (RFC 6797); `nil` for nothing. Only for
  /// servers all of whose listeners have TLS.
  package var strictTransportAge: Duration?
  /// `nil` for no access log.
  package var accessLog: (any AccessLog)?
  /// Asked once a loop: request ids are told apart by it.
  package var makeSeed: @Sendable () -> UInt64

  package init(
    listeners: [Listener], limits: ServerLimits = ServerLimits(), drain: Drain = Drain(),
    accessLog: (any AccessLog)? = nil,
    makeSeed: @escaping @Sendable () -> UInt64
  ) {
    self.listeners = listeners
    self.limits = limits
    self.drain = drain
    self.accessLog = accessLog
    self.makeSeed = makeSeed
  }
}
