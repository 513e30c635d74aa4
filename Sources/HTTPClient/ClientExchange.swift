import Transport

/// One request between `execute` and its response: its deadlines and its completion.
final class ClientExchange: TimerDelegate {
  /// The progress of the request, which decides the meaning of a deadline or a cancellation.
  enum Phase: Equatable {
    case queued
    case connecting
    /// Written, at least in part; no byte of the response has arrived.
    case sent
    case receiving
    case ended
  }

  typealias Completion = (Result<HTTPClientResponse, HTTPClientError>) -> Void

  let id: Int
  let request: RenderedRequest
  let order: ExchangeOrder
  /// The deadline of the whole exchange.
  let deadline: LoopInstant
  /// Whether it has been sent a second time; there is no third.
  var hasBeenRepeated = false
  /// Whether all of the request's content has been written.
  var hasSentContent: Bool
  /// Its connection, from the moment that one is opened for it.
  weak var connection: PooledConnection?
  private(set) var phase = Phase.queued
  private(set) var wasSent = false
  private let pool: ConnectionPool
  private var completion: Completion?
  private var timer: LoopTimer?

  init(
    id: Int, order: ExchangeOrder, pool: ConnectionPool, on reactor: isolated Reactor,
    completion: @escaping Completion
  ) {
    self.id = id
    self.order = order
    request = order.request
    deadline = reactor.now + order.limit
    hasSentContent = order.outgoing == nil
    self.pool = pool
    self.completion = completion
    timer = LoopTimer(delegate: self, on: reactor)
  }

  /// Enters `phase`, which can last `limit` but never longer than the exchange.
  func enter(_ phase: Phase, limit: Duration? = nil, at now: LoopInstant) {
    self.phase = phase
    if phase == .sent { wasSent = true }
    timer?.set(limit.map { min(deadline, now + $0) } ?? deadline)
  }

  /// Reports the result to the caller, once. A caller that already has the head gets it through the
  /// content.
  func end(with result: Result<HTTPClientResponse, HTTPClientError>) {
    guard phase != .ended else { return }
    phase = .ended
    timer?.cancel()
    timer = nil
    connection = nil
    order.outgoing?.stop()
    order.incoming?.finish(result.map { _ in () })
    completion.take()?(result)
  }

  /// Passes the head of a streamed response to the caller.
  func begin(_ head: HTTPClientResponse) {
    order.outgoing?.stop()
    completion.take()?(.success(head))
  }

  func timerFired(_ timer: LoopTimer, on reactor: isolated Reactor) {
    pool.fail(self, with: timeout, on: reactor)
  }

  private var timeout: HTTPClientError {
    switch phase {
    case .queued: .queueTimedOut
    case .connecting: .connectTimedOut
    case .sent: .noResponseInTime
    case .receiving, .ended: .responseTooSlow
    }
  }
}

/// A request as a caller submits it to the loop.
struct ExchangeOrder: Sendable {
  let request: RenderedRequest
  let isSafeToRepeat: Bool
  let responseBytesMax: Int
  /// The time for the whole exchange, waiting included.
  let limit: Duration
  /// Content sent after the head; nil if the request holds all content.
  var outgoing: OutgoingContent?
  /// The receiver of streamed response content; nil if the response is collected.
  var incoming: IncomingContent?
}
