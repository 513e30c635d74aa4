import Transport

/// The circuit breakers of one origin: one for the origin itself, and one for each operation sent to
/// it, so that a single failing operation is refused without blocking the origin for the others. It is
/// a value: time and randomness are arguments.
///
/// Failures to connect count for the origin. Any other failure (a timeout, a lost connection, a 502, 503
/// or 504) counts for the operation; against the origin it counts only once per operation until that
/// operation succeeds again, and at most once in a breaker's window. So the origin's breaker opens when
/// different operations fail, not when one is sent repeatedly. The exception: once it has opened, any
/// operation can be its probe, and a failed probe keeps it open.
struct OriginHealth {
  /// Ties an outcome to the state in which the request was admitted.
  struct Ticket: Sendable {
    fileprivate let operation: String
    fileprivate let ofOrigin: CircuitBreaker.Ticket
    fileprivate let ofOperation: CircuitBreaker.Ticket
  }

  /// The outcome of a request in regard to the upstream's health.
  enum Outcome {
    case success
    /// No connection to the origin could be made.
    case unreachable
    /// The origin took the request and did not serve it.
    case failed
    /// No information about the upstream: cancelled, or never tried.
    case neutral
  }

  private var origin: CircuitBreaker
  private var operations: [String: CircuitBreaker] = [:]
  /// The operations whose last request failed.
  private var failing: Set<String> = []
  /// When a failure of an operation last counted against the origin.
  private var counted: [String: LoopInstant] = [:]

  init(settings: CircuitBreaker.Settings) {
    origin = CircuitBreaker(settings: settings)
  }

  var report: BreakerReport {
    BreakerReport(
      origin: origin.report,
      operations: operations.filter { !$0.value.isClosed }.keys.sorted())
  }

  mutating func admit(
    _ operation: String, at now: LoopInstant
  ) throws(HTTPClientError) -> Ticket {
    var breaker = operations[operation] ?? CircuitBreaker(settings: origin.settings)
    // The operation's breaker decides first: a request it refuses must not become the origin's probe.
    let ofOperation = try Self.ticket(breaker.admit(at: now))
    let ofOrigin = try Self.ticket(origin.admit(at: now))
    operations[operation] = breaker
    return Ticket(operation: operation, ofOrigin: ofOrigin, ofOperation: ofOperation)
  }

  /// Returns how long requests of an operation are refused from now on; nil if one would be admitted.
  func refusal(of operation: String, at now: LoopInstant) -> Duration? {
    [operations[operation]?.refusal(at: now), origin.refusal(at: now)].compactMap(\.self).max()
  }

  /// Records the outcome of a request. `chance` is a random number from 0 to 1.
  mutating func record(
    _ outcome: Outcome, of ticket: Ticket, at now: LoopInstant, chance: Double
  ) {
    let name = ticket.operation
    let ofOperation: CircuitBreaker.Outcome
    let ofOrigin: CircuitBreaker.Outcome
    switch outcome {
    case .success:
      failing.remove(name)
      (ofOperation, ofOrigin) = (.success, .success)
    case .unreachable:
      (ofOperation, ofOrigin) = (.neutral, .failure)
    case .failed:
      var isNew = failing.insert(name).inserted
      // An operation that succeeds in between does not indicate a failing origin.
      if let last = counted[name], now < last + origin.settings.window { isNew = false }
      if isNew { counted[name] = now }
      (ofOperation, ofOrigin) = (.failure, isNew || ticket.ofOrigin.isProbe ? .failure : .neutral)
    case .neutral:
      (ofOperation, ofOrigin) = (.neutral, .neutral)
    }
    operations[name]?.record(ofOperation, of: ticket.ofOperation, at: now, chance: chance)
    origin.record(ofOrigin, of: ticket.ofOrigin, at: now, chance: chance)
  }

  private static func ticket(
    _ admission: CircuitBreaker.Admission
  ) throws(HTTPClientError) -> CircuitBreaker.Ticket {
    switch admission {
    case .allowed(let ticket): return ticket
    case .refused(let retryAfter): throw .breakerOpen(retryAfter: retryAfter)
    }
  }
}
