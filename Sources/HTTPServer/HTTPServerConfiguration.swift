package import HTTPWire
package import Traces
package import Transport

/// Configuration of a server, apart from its handler.
package struct HTTPServerConfiguration: Sendable {
  /// A listening address, with its certificates.
  package struct Listener: Sendable {
    package var endpoint: Endpoint
    /// `nil` for plain HTTP.
    package var tls: TLSServerContext?
    /// The handler for this listener; `nil` for the server's own.
    package var handler: (any RequestHandler)?

    package init(
      _ endpoint: Endpoint, tls: TLSServerContext? = nil, handler: (any RequestHandler)? = nil
    ) {
      self.endpoint = endpoint
      self.tls = tls
      self.handler = handler
    }
  }

  /// Steps of a graceful shutdown.
  package struct Drain: Sendable {
    /// Called first; readiness checks should fail from then on.
    package var notReady: @Sendable () -> Void = {}
    /// The delay until the server stops accepting, so that load balancers notice.
    package var delay: Duration = .zero
    /// How long handshakes in progress can take after that; no new connections begin. About one round
    /// trip; handshakes that take longer are reset.
    package var handshakes: Duration = .milliseconds(300)
    /// From the end of the delay until the remaining connections are reset.
    package var deadline: Duration = .seconds(20)

    package init() {}
  }

  package var listeners: [Listener]
  package var limits: ServerLimits
  package var drain: Drain
  /// The proxies whose forwarding fields are trusted.
  package var proxies = TrustedProxies.none
  /// Judges the requests that nodes of a cluster forward to each other; `nil` outside a cluster, where their
  /// fields mean nothing.
  package var nodes: NodeJudge?
  /// Whether many clients share an address, besides those of `proxies`. The limit on connections per
  /// address does not apply to these.
  package var isShared: @Sendable (SocketAddress) -> Bool = { _ in false }
  /// `nil` for none.
  package var rateLimit: RateLimit?
  /// The max-age of `Strict-Transport-Security` in every response (RFC 6797); `nil` omits the field. Set
  /// it only if all listeners have TLS.
  package var strictTransportAge: Duration?
  /// Whether a request is answered by the former handler while others wait for the next one, see
  /// ``HTTPService/hold()``. Its response must need nothing that is closed in between.
  package var isAnsweredAlways: @Sendable (borrowing RequestHead) -> Bool = { _ in false }
  /// `nil` for no access log.
  package var accessLog: (any AccessLog)?
  /// `nil` for no tracing: the `traceparent` of requests is only passed on.
  package var tracer: SpanTracer?
  /// Called once per loop, to make the request ids of loops differ.
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
