import Model
import Storage
import SyncScheduler

/// Decides what follows from a delivery attempt, with the outcome classes of the sync queue.
///
/// | class | what happens |
/// |---|---|
/// | not sent | no attempt counts; all deliveries pause, and one probes every ``probe`` |
/// | credentials refused | the same, every ``credentialPause`` |
/// | transient | waits with full jitter, and at least `Retry-After`; all deliveries pause that long
/// |
/// | permanent | failed |
/// | unknown | as transient: the batch's idempotency key makes a retry safe |
/// | too often | failed after ``strikesMax`` attempts that failed while others succeeded |
enum DeliveryPolicy {
  static let probe = Duration.seconds(5)
  static let credentialPause = Duration.seconds(60)
  /// Maximum wait, whatever the sender requests.
  static let waitMax = Duration.seconds(3_600)
  static let strikesMax = 8
  /// How recent a success must be to show that the sender is available.
  static let successAge = Duration.seconds(60)
  /// How long delivery of a notification is attempted.
  static let lifetime = Duration.seconds(3 * 86_400)
  static let expiredReason = "not sent in time"

  /// What follows from a failed attempt.
  struct Consequence: Hashable {
    /// The time until the next attempt; nil for none.
    let wait: Duration?
    let isAttempt: Bool
    /// How long to pause all deliveries; nil for no pause.
    let pausedFor: Duration?
    let reason: String
  }

  /// - Parameters:
  ///   - attempts: the number of counted attempts before this one.
  ///   - chance: a random number from 0 to 1, uniformly distributed.
  static func consequence(of fault: PushFault, attempts: Int, chance: Double) -> Consequence {
    let pause = BackOff.ceiling(attempts: attempts + 1) * chance
    switch fault {
    case .notSent(let reason):
      return Consequence(wait: .zero, isAttempt: false, pausedFor: probe, reason: reason)
    case .credentialsRefused(let reason):
      return Consequence(wait: .zero, isAttempt: false, pausedFor: credentialPause, reason: reason)
    case .transient(let retryAfter, let reason):
      let asked = retryAfter.map { min($0, waitMax) }
      return Consequence(
        wait: max(pause, asked ?? .zero), isAttempt: true, pausedFor: asked, reason: reason)
    case .permanent(let reason):
      return Consequence(wait: nil, isAttempt: true, pausedFor: nil, reason: reason)
    case .unknown(let reason):
      return Consequence(wait: pause, isAttempt: true, pausedFor: nil, reason: reason)
    }
  }

  /// - Parameter isStrike: whether other deliveries have succeeded recently.
  static func end(
    of batch: ClaimedBatch, after consequence: Consequence, isStrike: Bool, at now: Timestamp
  ) -> BatchEnd {
    guard let wait = consequence.wait else { return .failed(reason: consequence.reason) }
    let isStrike = isStrike && consequence.isAttempt
    if batch.strikes + (isStrike ? 1 : 0) >= strikesMax {
      return .failed(reason: consequence.reason)
    }
    return .waits(
      until: now.advanced(by: wait), isAttempt: consequence.isAttempt, isStrike: isStrike,
      reason: consequence.reason)
  }

  static func end(
    after consequence: Consequence, at now: Timestamp
  ) -> RegistrationEnd {
    guard let wait = consequence.wait else { return .failed(reason: consequence.reason) }
    return .waits(
      until: now.advanced(by: wait), isAttempt: consequence.isAttempt, reason: consequence.reason)
  }
}
