import Synchronization
import Transport

/// The client's state for one origin: its breakers, and its pool on one of the loops.
final class OriginClient: Sendable {
  private let origin: Origin
  private let settings: HTTPClientSettings
  private let tls: TLSClientContext?
  private let reactor: Reactor
  private let health: Mutex<OriginHealth>
  private let pool = Mutex<LoopBound<ConnectionPool>?>(nil)
  private let lastExchange = Atomic<Int>(0)

  init(
    origin: Origin, settings: HTTPClientSettings, tls: TLSClientContext?, reactor: Reactor
  ) {
    self.origin = origin
    self.settings = settings
    self.tls = tls
    self.reactor = reactor
    health = Mutex(OriginHealth(settings: settings.breaker))
  }

  func admit(
    _ operation: String, at now: LoopInstant
  ) throws(HTTPClientError) -> OriginHealth.Ticket {
    try health.withLock { health throws(HTTPClientError) in try health.admit(operation, at: now) }
  }

  func refusal(of operation: String, at now: LoopInstant) -> Duration? {
    health.withLock { $0.refusal(of: operation, at: now) }
  }

  func record(
    _ outcome: OriginHealth.Outcome, of ticket: OriginHealth.Ticket, at now: LoopInstant,
    chance: Double
  ) {
    health.withLock { $0.record(outcome, of: ticket, at: now, chance: chance) }
  }

  var breakers: BreakerReport { health.withLock { $0.report } }

  func nextExchange() -> Int {
    lastExchange.wrappingAdd(1, ordering: .relaxed).newValue
  }

  /// Performs an exchange.
  ///
  /// - Parameter id: the unique id of this exchange.
  func perform(
    _ order: ExchangeOrder, as id: Int
  ) async -> Result<HTTPClientResponse, HTTPClientError> {
    await withTaskCancellationHandler {
      await reactor.exchange(id, order, with: self)
    } onCancel: {
      cancel(id)
    }
  }

  func cancel(_ id: Int) {
    Task { await reactor.cancelExchange(id, of: self) }
  }

  /// Resumes reading a response whose reader has caught up.
  func resume(_ id: Int) {
    Task { await reactor.resumeExchange(id, of: self) }
  }

  /// Sends a piece of a request's content.
  func send(_ piece: [UInt8], isLast: Bool, of id: Int) async -> OutgoingContent.Outcome {
    await reactor.send(piece, isLast: isLast, of: id, with: self)
  }

  func close() async {
    await reactor.closePool(of: self)
  }

  /// Returns the pool, created on first use: it belongs to the loop, so it must be created there.
  func pool(on reactor: isolated Reactor) -> ConnectionPool {
    if let bound = pool.withLock({ $0 }) { return bound.get(on: reactor) }
    let made = ConnectionPool(
      origin: origin, settings: settings, tls: tls,
      metrics: ClientMetrics(origin: origin, upstream: settings.metricsUpstream))
    let bound = LoopBound(made, on: reactor)
    pool.withLock { $0 = bound }
    return bound.get(on: reactor)
  }
}

extension Reactor {
  fileprivate func exchange(
    _ id: Int, _ order: ExchangeOrder, with client: OriginClient
  ) async -> Result<HTTPClientResponse, HTTPClientError> {
    // A cancellation before this point found no exchange to cancel.
    if Task.isCancelled { return .failure(.cancelled(wasSent: false)) }
    return await withCheckedContinuation { continuation in
      client.pool(on: self).submit(id, order, on: self) { continuation.resume(returning: $0) }
    }
  }

  fileprivate func cancelExchange(_ id: Int, of client: OriginClient) {
    client.pool(on: self).cancel(id, on: self)
  }

  fileprivate func resumeExchange(_ id: Int, of client: OriginClient) {
    client.pool(on: self).resume(id, on: self)
  }

  fileprivate func send(
    _ piece: [UInt8], isLast: Bool, of id: Int, with client: OriginClient
  ) -> OutgoingContent.Outcome {
    client.pool(on: self).send(piece, isLast: isLast, of: id, on: self)
  }

  fileprivate func closePool(of client: OriginClient) {
    client.pool(on: self).close(on: self)
  }
}
