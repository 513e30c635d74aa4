import HTTPWire
import Metrics
import Transport

/// The connections to one origin and the requests on them, on one loop.
///
/// It performs the decisions of `PoolLedger`. It owns the exchanges until they end and the connections
/// until they are dropped, and both own the pool: a client released without `close()` keeps its pool
/// until the last request is complete and the last idle connection has timed out.
final class ConnectionPool {
  let origin: Origin
  let settings: HTTPClientSettings
  private let tls: TLSClientContext?
  private let metrics: ClientMetrics
  private var ledger: PoolLedger
  private var exchanges: [Int: ClientExchange] = [:]
  private var connections: [Int: PooledConnection] = [:]
  private var nextConnection = 0
  private var isClosed = false

  init(
    origin: Origin, settings: HTTPClientSettings, tls: TLSClientContext?, metrics: ClientMetrics
  ) {
    self.origin = origin
    self.settings = settings
    self.tls = tls
    self.metrics = metrics
    ledger = PoolLedger(connectionsMax: settings.connectionsMax, queueMax: settings.queueMax)
  }

  func submit(
    _ id: Int, _ order: ExchangeOrder, on reactor: isolated Reactor,
    completion: @escaping ClientExchange.Completion
  ) {
    guard !isClosed else { return completion(.failure(.clientClosed)) }
    let exchange = ClientExchange(
      id: id, order: order, pool: self, on: reactor, completion: completion)
    exchanges[id] = exchange
    metrics.requestBegan()
    admit(exchange, on: reactor)
  }

  func cancel(_ id: Int, on reactor: isolated Reactor) {
    guard let exchange = exchanges[id] else { return }
    fail(exchange, with: .cancelled(wasSent: exchange.wasSent), on: reactor)
  }

  /// Sends a piece of a request's content.
  ///
  /// - Returns: whether the upstream still accepts content.
  func send(
    _ piece: [UInt8], isLast: Bool, of id: Int, on reactor: isolated Reactor
  ) -> OutgoingContent.Outcome {
    guard let exchange = exchanges[id], exchange.phase == .sent,
      let connection = exchange.connection
    else { return .over }
    connection.send(piece, isLast: isLast, of: exchange, on: reactor)
    return .taken
  }

  func resume(_ id: Int, on reactor: isolated Reactor) {
    guard let exchange = exchanges[id], exchange.phase == .receiving else { return }
    exchange.enter(.receiving, limit: settings.stallTimeout, at: reactor.now)
    exchange.connection?.resumeReading()
  }

  /// Ends all requests and connections. Requests that were never sent fail with `clientClosed`.
  func close(on reactor: isolated Reactor) {
    isClosed = true
    for exchange in exchanges.values {
      end(exchange, with: .failure(exchange.wasSent ? .connectionLost : .clientClosed))
    }
    for connection in connections.values { drop(connection) }
  }

  /// Ends an exchange without a response, in any phase. Its connection, if it has one, is in the middle
  /// of a message and cannot be reused.
  func fail(_ exchange: ClientExchange, with error: HTTPClientError, on reactor: isolated Reactor) {
    guard let connection = exchange.connection else {
      ledger.withdraw(exchange.id)
      return end(exchange, with: .failure(error))
    }
    end(exchange, with: .failure(error))
    drop(connection)
    perform(ledger.loseBusy(), on: reactor)
  }
}

extension ConnectionPool {
  /// Ends an exchange whose response is complete.
  func complete(
    _ exchange: ClientExchange, with response: HTTPClientResponse, on connection: PooledConnection,
    isReusable: Bool, reactor: isolated Reactor
  ) {
    end(exchange, with: .success(response))
    if isReusable, !isClosed, !connection.isTooOld(at: reactor.now) {
      connection.becomeIdle()
      perform(ledger.release(connection.id), on: reactor)
    } else {
      drop(connection)
      perform(ledger.loseBusy(), on: reactor)
    }
  }

  /// Handles a connection that closed before its response. A reused connection may simply have been too
  /// old: the server closed it while the request was on its way (RFC 9112, 9.3.1).
  func lose(
    _ connection: PooledConnection, with exchange: ClientExchange, error: HTTPClientError,
    on reactor: isolated Reactor
  ) {
    let mayRepeat =
      error == .connectionLost && connection.isReused && exchange.order.isSafeToRepeat
      && !exchange.hasBeenRepeated && !isClosed
    guard mayRepeat else { return fail(exchange, with: error, on: reactor) }
    exchange.hasBeenRepeated = true
    exchange.connection = nil
    metrics.requestRepeated()
    drop(connection)
    perform(ledger.loseBusy(), on: reactor)
    admit(exchange, avoidsReuse: true, on: reactor)
  }

  /// Removes an idle connection that has closed or timed out.
  func loseIdle(_ connection: PooledConnection) {
    guard connections[connection.id] != nil else { return }
    ledger.loseIdle(connection.id)
    drop(connection)
  }

  private func admit(
    _ exchange: ClientExchange, avoidsReuse: Bool = false, on reactor: isolated Reactor
  ) {
    let (admission, evicted) = ledger.admit(exchange.id, avoidsReuse: avoidsReuse)
    if let evicted, let connection = connections[evicted] { drop(connection) }
    switch admission {
    case .use(let id): perform(.use(id, for: exchange.id), on: reactor)
    case .open: open(for: exchange, on: reactor)
    case .wait: exchange.enter(.queued, limit: settings.queueTimeout, at: reactor.now)
    case .refuse: end(exchange, with: .failure(.queueFull))
    }
  }

  private func perform(_ succession: PoolLedger.Succession, on reactor: isolated Reactor) {
    switch succession {
    case .none:
      break
    case .use(let id, let exchangeID):
      guard let connection = connections[id], let exchange = exchanges[exchangeID] else { return }
      connection.send(exchange, on: reactor)
    case .open(let exchangeID):
      guard let exchange = exchanges[exchangeID] else { return }
      open(for: exchange, on: reactor)
    }
  }

  private func open(for exchange: ClientExchange, on reactor: isolated Reactor) {
    if origin.scheme == .https, tls == nil {
      // The connection's place goes to the next waiting request.
      end(exchange, with: .failure(.tls(.handshake("the HTTP client has no TLS context"))))
      return perform(ledger.loseBusy(), on: reactor)
    }
    nextConnection += 1
    let connection = PooledConnection(id: nextConnection, pool: self, on: reactor)
    connections[connection.id] = connection
    metrics.connectionOpened()
    exchange.enter(.connecting, limit: settings.connectTimeout, at: reactor.now)
    connection.open(
      to: origin.endpoint, tls: origin.scheme == .https ? tls : nil,
      deadline: min(exchange.deadline, reactor.now + settings.connectTimeout), for: exchange,
      on: reactor)
  }

  private func drop(_ connection: PooledConnection) {
    guard connections.removeValue(forKey: connection.id) != nil else { return }
    metrics.connectionClosed()
    connection.discard()
  }

  private func end(
    _ exchange: ClientExchange, with result: Result<HTTPClientResponse, HTTPClientError>
  ) {
    guard exchanges.removeValue(forKey: exchange.id) != nil else { return }
    metrics.requestEnded()
    exchange.end(with: result)
  }
}

/// Metrics of one origin's pool.
struct ClientMetrics {
  private let connections: Meter
  private let inFlight: Meter
  private let retries: Counter

  init(origin: Origin, upstream: String?) {
    var dimensions = [("origin", "\(origin)")]
    if let upstream { dimensions.append(("upstream", upstream)) }
    connections = Meter(label: "larder.http.client.connections", dimensions: dimensions)
    inFlight = Meter(label: "larder.http.client.requests.in.flight", dimensions: dimensions)
    retries = Counter(label: "larder.http.client.retries", dimensions: dimensions)
  }

  func connectionOpened() { connections.increment() }
  func connectionClosed() { connections.decrement() }
  func requestBegan() { inFlight.increment() }
  func requestEnded() { inFlight.decrement() }
  func requestRepeated() { retries.increment() }
}
