import Logging
import Model
import Push
import Synchronization
import Transport

/// Circuit breaker for calls to the push sender. While the sender is unavailable or over its rate
/// limit, no calls are made; then one call probes it, and the others proceed after its response.
struct PushCircuitBreaker: Sendable {
  enum Admission: Hashable {
    case granted
    /// The time to wait; nil for until the probe has ended.
    case waits(Duration?)
  }

  private var pausedUntil: Timestamp?
  private var isProbing = false
  /// The time of the sender's last success.
  private(set) var lastSuccess: Timestamp?

  var isPaused: Bool { pausedUntil != nil }

  mutating func admit(at now: Timestamp) -> Admission {
    guard let pausedUntil else { return .granted }
    if isProbing { return .waits(nil) }
    if now < pausedUntil { return .waits(now.elapsed(until: pausedUntil)) }
    isProbing = true
    return .granted
  }

  /// Ends an admission that was not used for a call.
  mutating func releaseProbe() { isProbing = false }

  /// - Parameter wait: how long to pause all calls, whatever the last call was; nil for no pause.
  /// - Returns: whether waiting callers should try again.
  mutating func record(
    at now: Timestamp, pausedFor wait: Duration?, isSuccess: Bool
  ) -> Bool {
    if isSuccess { lastSuccess = now }
    defer { isProbing = false }
    guard let wait else {
      defer { pausedUntil = nil }
      return pausedUntil != nil
    }
    pausedUntil = max(now.advanced(by: wait), pausedUntil ?? now)
    return isProbing
  }
}

/// The ``PushCircuitBreaker`` shared by all calls to the sender; logs when the sender becomes
/// unavailable.
final class PushAvailability: Sendable {
  private let breaker = Mutex(PushCircuitBreaker())
  private let signal: AsyncSignal
  private let environment: PushEnvironment
  private let logger: Logger

  init(signal: AsyncSignal, environment: PushEnvironment, logger: Logger) {
    self.signal = signal
    self.environment = environment
    self.logger = logger
  }

  func admit() -> PushCircuitBreaker.Admission {
    breaker.withLock { $0.admit(at: environment.now) }
  }

  func releaseProbe() {
    breaker.withLock { $0.releaseProbe() }
  }

  func hasSucceeded(within age: Duration) -> Bool {
    let now = environment.now
    return breaker.withLock { $0.lastSuccess.map { $0.elapsed(until: now) <= age } ?? false }
  }

  func recordSuccess() {
    note(pausedFor: nil, isSuccess: true)
  }

  func recordFailure(_ fault: PushFault, _ consequence: DeliveryPolicy.Consequence) {
    let wasPaused = breaker.withLock { $0.isPaused }
    note(pausedFor: consequence.pausedFor, isSuccess: false)
    // Logged once, not at every probe.
    guard consequence.pausedFor != nil, !wasPaused else { return }
    let metadata: Logger.Metadata = ["reason": "\(consequence.reason)"]
    if case .credentialsRefused = fault {
      logger.error("the push sender rejects the configured credentials", metadata: metadata)
    } else {
      logger.warning("the push sender is unavailable; notifications are queued", metadata: metadata)
    }
  }

  private func note(pausedFor wait: Duration?, isSuccess: Bool) {
    let now = environment.now
    let canOthersProceed = breaker.withLock {
      $0.record(at: now, pausedFor: wait, isSuccess: isSuccess)
    }
    if canOthersProceed { signal.notify() }
  }
}
