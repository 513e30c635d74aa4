/// How a client treats its upstreams. All limits are for one origin.
package struct HTTPClientSettings: Sendable, Equatable {
  /// Requests under way at once, each on its own connection.
  package var connectionsMax = 64
  /// Requests that may wait for one of these connections.
  package var queueMax = 1024
  /// How long they may wait.
  package var queueTimeout: Duration = .seconds(5)
  /// Name, connect and TLS handshake together.
  package var connectTimeout: Duration = .seconds(5)
  /// From the request's last byte handed over to the answer's first.
  package var firstByteTimeout: Duration = .seconds(10)
  /// All of it, waiting included, for a caller that names no limit.
  package var totalTimeout: Duration = .seconds(30)
  /// How long the upstream may let a streamed content stand still, sending or taking it.
  package var stallTimeout: Duration = .seconds(30)
  /// How long an unused connection is kept. Below what servers keep theirs (60 s or more as a rule;
  /// those that say less in `Keep-Alive: timeout=` are believed).
  package var idleTimeout: Duration = .seconds(30)
  /// How long a connection is used again: the next one resolves the upstream's name again, so that
  /// a changed name is followed also under load.
  package var connectionAgeMax: Duration = .seconds(60)
  /// A body that grows beyond this many times its coded size is taken for a bomb, once it is larger
  /// than `decodedBytesFree`. JSON lists reach 15, deflate's own limit is 1032.
  package var decodedRatioMax = 100
  package var decodedBytesFree = 1024 * 1024
  package var breaker = CircuitBreaker.Settings()

  package init() {}
}
