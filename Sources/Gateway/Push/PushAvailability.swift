import Logging
import Model
import Synchronization
import Transport

/// The circuit breaker of all calls to the push sender; logs when the sender becomes unavailable.
///
/// While the sender is unavailable or over its rate limit, no calls are made; then one call probes it,
/// and the others proceed after its response.
final class PushAvailability: Sendable {
  private let gate = Mutex(AvailabilityGate())
  private let signal: AsyncSignal
  private let environment: PushEnvironment
  private let logger: Logger

  init(signal: AsyncSignal, environment: PushEnvironment, logger: Logger) {
    self.signal = signal
    self.environment = environment
    self.logger = logger
  }

  func admit() -> AvailabilityGate.Admission {
    gate.withLock { $0.admit(at: environment.now) }
  }

  /// Ends an admission that was not used for a call.
  func releaseProbe() {
    gate.withLock { $0.cancelStart(at: environment.now) }
  }

  func hasSucceeded(within age: Duration) -> Bool {
    let now = environment.now
    return gate.withLock { $0.lastSuccess.map { $0.elapsed(until: now) <= age } ?? false }
  }

  func recordSuccess() {
    note(.success, pause: .zero)
  }

  func recordFailure(_ fault: PushFault, _ consequence: DeliveryPolicy.Consequence) {
    let wasAvailable = gate.withLock { $0.isAvailable }
    note(
      consequence.pausedFor == nil ? .refusal : .unreachable, pause: consequence.pausedFor ?? .zero)
    // Logged once, not at every probe.
    guard consequence.pausedFor != nil, wasAvailable else { return }
    let metadata: Logger.Metadata = ["reason": "\(consequence.reason)"]
    if case .credentialsRefused = fault {
      logger.error("the push sender rejects the configured credentials", metadata: metadata)
    } else {
      logger.warning("the push sender is unavailable; notifications are queued", metadata: metadata)
    }
  }

  /// - Parameter pause: how long to pause all calls if the sender is unreachable, whatever the last call
  ///   was.
  private func note(_ outcome: AvailabilityGate.Outcome, pause: Duration) {
    let now = environment.now
    let canOthersProceed = gate.withLock {
      $0.record(
        outcome, at: now, rules: AvailabilityGate.Rules(firstPause: pause, nextPause: pause))
    }
    if canOthersProceed { signal.notify() }
  }
}
