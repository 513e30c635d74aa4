import Transport

/// A circuit breaker for requests to an upstream. It is a value: time and randomness are arguments.
///
/// Closed, it counts failures. Open, it refuses all requests for a while. Half open, it admits a single
/// request as a probe, whose outcome decides.
struct CircuitBreaker: Sendable, Equatable {
  struct Settings: Sendable, Equatable {
    /// Failures in a row that open the breaker.
    var consecutiveFailuresMax = 5
    /// The failure rate that opens it, once `windowRequestsMin` requests have ended in the window.
    var failureRateMax = 0.5
    var windowRequestsMin = 20
    var window: Duration = .seconds(10)
    /// How long it stays open the first time; doubled for each probe that fails.
    var openTime: Duration = .seconds(1)
    var openTimeMax: Duration = .seconds(30)
    /// The fraction by which the open time varies up or down, so that many gateways do not probe a
    /// recovering upstream at the same time.
    var jitter = 0.2

    init() {}
  }

  enum Admission: Equatable, Sendable {
    /// Send the request, and report its outcome with this ticket.
    case allowed(Ticket)
    case refused(retryAfter: Duration)
  }

  /// Ties an outcome to the state in which the request was admitted: a request that began before the
  /// breaker opened says nothing about the upstream afterwards.
  struct Ticket: Equatable, Sendable {
    let generation: UInt64
    let isProbe: Bool
  }

  enum Outcome: Sendable {
    case success
    case failure
    /// No information about the upstream: cancelled, or never tried.
    case neutral
  }

  private enum State: Equatable {
    case closed
    case open(until: LoopInstant)
    /// A probe is in progress.
    case halfOpen
  }

  let settings: Settings
  private var state = State.closed
  private var generation: UInt64 = 0
  private var consecutiveFailures = 0
  private var failedProbes = 0
  private var windowStart = LoopInstant(nanoseconds: 0)
  private var windowRequests = 0
  private var windowFailures = 0

  init(settings: Settings) {
    self.settings = settings
  }

  var isClosed: Bool { state == .closed }

  /// For operators.
  var report: BreakerReport.State {
    switch state {
    case .closed: .closed
    case .open: .open
    case .halfOpen: .probing
    }
  }

  mutating func admit(at now: LoopInstant) -> Admission {
    switch state {
    case .closed:
      return .allowed(Ticket(generation: generation, isProbe: false))
    case .open(let until) where now < until:
      return .refused(retryAfter: until.elapsed(since: now))
    case .open:
      state = .halfOpen
      generation += 1
      return .allowed(Ticket(generation: generation, isProbe: true))
    case .halfOpen:
      return .refused(retryAfter: settings.openTime)
    }
  }

  /// Returns how long requests are refused from now on; nil if one would be admitted. Unlike
  /// ``admit(at:)`` it changes nothing.
  func refusal(at now: LoopInstant) -> Duration? {
    switch state {
    case .closed: nil
    case .open(let until): now < until ? until.elapsed(since: now) : nil
    case .halfOpen: settings.openTime
    }
  }

  /// Records the outcome of a request. `chance` is a random number from 0 to 1.
  mutating func record(
    _ outcome: Outcome, of ticket: Ticket, at now: LoopInstant, chance: Double
  ) {
    guard ticket.generation == generation else { return }
    switch (state, outcome) {
    case (.closed, .neutral), (.open, _):
      break
    case (.closed, .success):
      consecutiveFailures = 0
      count(failure: false, at: now)
    case (.closed, .failure):
      consecutiveFailures += 1
      count(failure: true, at: now)
      if shouldOpen { open(at: now, chance: chance) }
    case (.halfOpen, .success):
      close(at: now)
    case (.halfOpen, .failure):
      failedProbes += 1
      open(at: now, chance: chance)
    case (.halfOpen, .neutral):
      // The probe gave no information, so the next request is a probe.
      state = .open(until: now)
    }
  }

  private var shouldOpen: Bool {
    if consecutiveFailures >= settings.consecutiveFailuresMax { return true }
    guard windowRequests >= settings.windowRequestsMin else { return false }
    return Double(windowFailures) >= settings.failureRateMax * Double(windowRequests)
  }

  private mutating func count(failure: Bool, at now: LoopInstant) {
    if now >= windowStart + settings.window {
      windowStart = now
      windowRequests = 0
      windowFailures = 0
    }
    windowRequests += 1
    if failure { windowFailures += 1 }
  }

  private mutating func open(at now: LoopInstant, chance: Double) {
    generation += 1
    // Beyond 2^20 the maximum has long been reached.
    let doubled = settings.openTime * (1 << min(failedProbes, 20))
    let base = min(doubled, settings.openTimeMax)
    let factor = 1 + settings.jitter * (2 * chance - 1)
    state = .open(until: now + base * factor)
  }

  private mutating func close(at now: LoopInstant) {
    generation += 1
    state = .closed
    consecutiveFailures = 0
    failedProbes = 0
    windowStart = now
    windowRequests = 0
    windowFailures = 0
  }
}
