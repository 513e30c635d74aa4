import Transport

/// One request between `execute` and its answer: its deadlines, and whom to tell.
final class ClientExchange: TimerDelegate {
  /// Where the request stands, which is what a deadline or a cancellation means.
  enum Phase: Equatable {
    case queued
    case connecting
    /// Written, at least in part; no byte of the answer has come.
    case sent
    case receiving
    case ended
  }

  typealias Completion = (Result<HTTPClientResponse, HTTPClientError>) -> Void

  let id: Int
  let request: RenderedRequest
  let order: ExchangeOrder
  /// When all must be done.
  let deadline: LoopInstant
  /// Whether it has been sent a second time, which is the last.
  var hasBeenRepeated = false
  /// Whether all of the request's content has been written.
  var hasSentContent: Bool
  /// The connection it is on, from the moment that one is opened for it.
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

  /// Enters `phase`, which may last `limit` and never longer than the exchange.
  func enter(_ phase: Phase, limit: Duration? = nil, at now: LoopInstant) {
    self.phase = phase
    if phase == .sent { wasSent = true }
    timer?.set(limit.map { min(deadline, now + $0) } ?? deadline)
  }

  /// Tells the caller, once. Whoever has the head already is told through the content.
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

  /// Gives the head of a streamed answer to the caller.
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

/// What a caller hands to the loop.
struct ExchangeOrder: Sendable {
  let request: RenderedRequest
  let isSafeToRepeat: Bool
  let responseBytesMax: Int
  /// Time for all of it, waiting included.
  let limit: Duration
  /// Content that follows the head; nil where the request has all of it.
  var outgoing: OutgoingContent?
  /// Where the answer's content goes as it comes; nil where it is gathered.
  var incoming: IncomingContent?
}
