import HTTPTypes
import Synchronization
package import Transport

/// Sends requests to upstreams: a pool of keep-alive connections and circuit breakers for each
/// origin, which lives on one of the group's loops.
package final class HTTPClient: Sendable {
  private struct State {
    var origins: [Origin: OriginClient] = [:]
    var isClosed = false
  }

  private let group: EventLoopGroup
  private let settings: HTTPClientSettings
  private let tls: TLSClientContext?
  let clock: @Sendable () -> LoopInstant
  let random: @Sendable () -> Double
  private let state = Mutex(State())

  /// - Parameters:
  ///   - tls: trust for `https` origins, which fail without it.
  ///   - clock: what the breaker goes by; deadlines follow the loops' own clock.
  ///   - random: numbers from 0 up to 1, for the breaker's jitter.
  package init(
    group: EventLoopGroup, settings: HTTPClientSettings = HTTPClientSettings(),
    tls: TLSClientContext? = nil, clock: @escaping @Sendable () -> LoopInstant = LoopClock.now,
    random: @escaping @Sendable () -> Double
  ) {
    self.group = group
    self.settings = settings
    self.tls = tls
    self.clock = clock
    self.random = random
  }

  /// Sends `request` and gathers the answer, whatever its status.
  ///
  /// `limit` is the time for all of it, waiting for a connection included. When the caller's task is
  /// cancelled the connection is closed, since the answer to come would be nobody's.
  package func execute(
    _ request: HTTPClientRequest, within limit: Duration? = nil
  ) async throws(HTTPClientError) -> HTTPClientResponse {
    let order = ExchangeOrder(
      request: try RenderedRequest(request), isSafeToRepeat: request.isSafeToRepeat,
      responseBytesMax: request.responseBytesMax, limit: limit ?? settings.totalTimeout)
    let origin = try client(for: request.url.origin)
    let ticket = try origin.admit(request.operation, at: clock())
    let result = await origin.perform(order, as: origin.nextExchange())
    origin.record(Self.outcome(of: result), of: ticket, at: clock(), chance: random())
    return try result.get()
  }

  /// Closes all connections. Requests under way end, later ones are refused.
  package func close() async {
    let origins = state.withLock { state in
      state.isClosed = true
      return Array(state.origins.values)
    }
    for origin in origins { await origin.close() }
  }

  func client(for origin: Origin) throws(HTTPClientError) -> OriginClient {
    let found: OriginClient? = state.withLock { state in
      guard !state.isClosed else { return nil }
      if let known = state.origins[origin] { return known }
      let made = OriginClient(
        origin: origin, settings: settings, tls: tls, reactor: group.next())
      state.origins[origin] = made
      return made
    }
    guard let found else { throw .clientClosed }
    return found
  }

  /// What a result says about the upstream's health. Responses that are too large or wrongly coded
  /// are responses; a full queue is our own doing.
  static func outcome(
    of result: Result<HTTPClientResponse, HTTPClientError>
  ) -> OriginHealth.Outcome {
    switch result {
    case .success(let response):
      switch response.status.code {
      case 502, 503, 504: .failed
      default: .success
      }
    case .failure(let error):
      switch error {
      case .unresolved, .connectFailed, .connectTimedOut, .tls:
        .unreachable
      case .noResponseInTime, .responseTooSlow, .connectionLost, .responseTruncated,
        .responseMalformed:
        .failed
      case .responseTooLarge, .responseUndecodable:
        .success
      case .invalidRequest, .breakerOpen, .queueFull, .queueTimedOut, .clientClosed, .cancelled:
        .neutral
      }
    }
  }
}

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
