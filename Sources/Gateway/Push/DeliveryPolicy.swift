import Model
import Push
import Storage

/// What follows from an attempt: the outcome classes of the sync queue, for notifications.
///
/// | class | what happens |
/// |---|---|
/// | not sent | no attempt counts; all wait, and one asks every ``probe`` |
/// | credentials refused | the same, every ``credentialPause`` |
/// | transient | waits with full jitter, and as long as `Retry-After` says; that long all wait |
/// | permanent | failed |
/// | unknown | as transient: the batch's key makes another attempt safe |
/// | too often | failed after ``strikesMax`` attempts that failed while others succeeded |
enum DeliveryPolicy {
  static let probe = Duration.seconds(5)
  static let credentialPause = Duration.seconds(60)
  /// The longest that anything waits, whatever the sender asks for.
  static let waitMax = Duration.seconds(3_600)
  static let strikesMax = 8
  /// A success this long ago says that the sender is well.
  static let successAge = Duration.seconds(60)
  /// A notification that nobody could take for so long is of no use any more.
  static let lifetime = Duration.seconds(3 * 86_400)
  static let expiredReason = "not sent in time"

  /// What a failure asks for.
  struct Consequence: Hashable {
    /// Nil: it is over.
    let wait: Duration?
    let isAttempt: Bool
    /// For how long nobody asks the sender.
    let closedFor: Duration?
    let reason: String
  }

  /// - Parameters:
  ///   - attempts: that counted before.
  ///   - chance: drawn evenly from 0 to 1.
  static func consequence(of fault: PushFault, attempts: Int, chance: Double) -> Consequence {
    let pause = BackOff.ceiling(attempts: attempts + 1) * chance
    switch fault {
    case .notSent(let reason):
      return Consequence(wait: .zero, isAttempt: false, closedFor: probe, reason: reason)
    case .credentialsRefused(let reason):
      return Consequence(wait: .zero, isAttempt: false, closedFor: credentialPause, reason: reason)
    case .transient(let retryAfter, let reason):
      let asked = retryAfter.map { min($0, waitMax) }
      return Consequence(
        wait: max(pause, asked ?? .zero), isAttempt: true, closedFor: asked, reason: reason)
    case .permanent(let reason):
      return Consequence(wait: nil, isAttempt: true, closedFor: nil, reason: reason)
    case .unknown(let reason):
      return Consequence(wait: pause, isAttempt: true, closedFor: nil, reason: reason)
    }
  }

  /// - Parameter isStrike: others have succeeded meanwhile.
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
