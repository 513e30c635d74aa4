import Logging
import Model
import Push
import Synchronization

/// The one ``PushCircuitBreaker`` of all who ask the sender, with a word to the operator when it closes.
final class PushAvailability: Sendable {
  private let gate = Mutex(PushCircuitBreaker())
  private let bell: AsyncSignal
  private let surroundings: PushEnvironment
  private let logger: Logger

  init(bell: AsyncSignal, surroundings: PushEnvironment, logger: Logger) {
    self.bell = bell
    self.surroundings = surroundings
    self.logger = logger
  }

  func admit() -> PushCircuitBreaker.Admission {
    gate.withLock { $0.admit(at: surroundings.now) }
  }

  func unused() {
    gate.withLock { $0.unused() }
  }

  func hasSucceeded(within age: Duration) -> Bool {
    let now = surroundings.now
    return gate.withLock { $0.lastSuccess.map { $0.elapsed(until: now) <= age } ?? false }
  }

  func answered() {
    note(closedFor: nil, isSuccess: true)
  }

  func answered(_ fault: PushFault, _ consequence: DeliveryPolicy.Consequence) {
    let wasClosed = gate.withLock { $0.isClosed }
    note(closedFor: consequence.closedFor, isSuccess: false)
    // Once, and not at every probe.
    guard consequence.closedFor != nil, !wasClosed else { return }
    let metadata: Logger.Metadata = ["reason": "\(consequence.reason)"]
    if case .credentialsRefused = fault {
      logger.error("the push sender refuses the credentials in settings", metadata: metadata)
    } else {
      logger.warning("notifications wait for the push sender", metadata: metadata)
    }
  }

  private func note(closedFor wait: Duration?, isSuccess: Bool) {
    let now = surroundings.now
    let lets = gate.withLock { $0.answered(at: now, closedFor: wait, isSuccess: isSuccess) }
    if lets { bell.ring() }
  }
}
