import HTTPTypes
import Synchronization
package import Transport

/// An HTTP/1.1 client for upstreams, with a pool of keep-alive connections and circuit breakers for each
/// origin. Each origin lives on one of the group's loops.
package final class HTTPClient: Sendable {
  private struct State {
    var origins: [Origin: OriginClient] = [:]
    var isClosed = false
  }

  let group: EventLoopGroup
  private let settings: HTTPClientSettings
  let tls: TLSClientContext?
  let webSockets: WebSocketRegistry
  let clock: @Sendable () -> LoopInstant
  let random: @Sendable () -> Double
  private let state = Mutex(State())

  /// - Parameters:
  ///   - tls: the TLS context for `https` origins, which fail without it.
  ///   - clock: the breaker's clock; deadlines use the loops' own clock.
  ///   - random: returns numbers from 0 to 1, for the breaker's jitter.
  package init(
    group: EventLoopGroup, settings: HTTPClientSettings = HTTPClientSettings(),
    tls: TLSClientContext? = nil, clock: @escaping @Sendable () -> LoopInstant = LoopClock.now,
    random: @escaping @Sendable () -> Double
  ) {
    self.group = group
    self.settings = settings
    self.tls = tls
    webSockets = WebSocketRegistry(connectionsMax: settings.webSocketsMax)
    self.clock = clock
    self.random = random
  }

  /// Sends `request` and returns the complete response, whatever its status.
  ///
  /// `limit` is the total time, waiting for a connection included. When the caller's task is cancelled,
  /// the connection is closed, since its response would belong to no request.
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

  /// Returns the circuit breakers of an origin; nil if no request was sent to it.
  package func breakers(of origin: Origin) -> BreakerReport? {
    state.withLock { $0.origins[origin] }?.breakers
  }

  /// Returns how long the circuit breakers refuse requests of an operation from now on; nil if they
  /// would admit one. It sends nothing and is no request: a breaker that waits for a probe still does.
  package func refusal(of operation: String, to url: HTTPURL) -> Duration? {
    state.withLock { $0.origins[url.origin] }?.refusal(of: operation, at: clock())
  }

  /// Closes all connections. Requests in progress end, later ones are refused; WebSocket connections begin
  /// to close.
  package func close() async {
    await webSockets.closeAll()
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

  /// Returns what a result says about the upstream's health. Responses that are too large or wrongly
  /// coded count as successes; a full queue is neutral, since its cause is local.
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
        .responseMalformed, .upgradeRefused, .upgradeMalformed:
        .failed
      case .responseTooLarge, .responseUndecodable:
        .success
      case .invalidRequest, .breakerOpen, .queueFull, .queueTimedOut, .clientClosed, .cancelled:
        .neutral
      }
    }
  }
}

/// Settings of a client. Limits apply per origin, unless stated otherwise.
package struct HTTPClientSettings: Sendable, Equatable {
  /// Concurrent requests, each on its own connection.
  package var connectionsMax = 64
  /// Requests that can wait for one of these connections.
  package var queueMax = 1024
  /// How long they can wait.
  package var queueTimeout: Duration = .seconds(5)
  /// Name lookup, connect and TLS handshake together.
  package var connectTimeout: Duration = .seconds(5)
  /// From the request's last byte written to the response's first byte.
  package var firstByteTimeout: Duration = .seconds(10)
  /// The total time of a request, waiting included, if the caller sets no limit.
  package var totalTimeout: Duration = .seconds(30)
  /// How long the upstream can stall streamed content, sending or reading it.
  package var stallTimeout: Duration = .seconds(30)
  /// How long an unused connection is kept. Shorter than the idle timeout of most servers (60 s or more);
  /// a shorter `Keep-Alive: timeout=` is respected.
  package var idleTimeout: Duration = .seconds(30)
  /// How long a connection is reused. The next one resolves the upstream's name again, so that DNS
  /// changes take effect under load too.
  package var connectionAgeMax: Duration = .seconds(60)
  /// The ratio of decoded to coded size above which a body counts as a decompression bomb, once it is
  /// larger than `decodedBytesFree`. JSON lists reach 15, deflate's own limit is 1032.
  package var decodedRatioMax = 100
  package var decodedBytesFree = 1024 * 1024
  /// WebSocket connections of the whole client.
  package var webSocketsMax = 4096
  var breaker = CircuitBreaker.Settings()
  /// The label `upstream` of the client's metrics; nil for none.
  package var metricsUpstream: String?

  package init() {}

  /// Never refuses a request because of earlier failures: for requests whose answer decides something.
  package mutating func sendAlways() {
    breaker.consecutiveFailuresMax = .max
    breaker.failureRateMax = .infinity
  }
}
