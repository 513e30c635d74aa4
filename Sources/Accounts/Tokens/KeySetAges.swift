import Model

/// When an issuer's keys are asked for, as a pure decision.
///
/// Known keys are used and renewed beside it once an hour. An id that is not known may be of a key
/// that has just come, so it is asked for, but never twice within half a minute, or within seconds
/// where that failed: made-up ids must not become a flood at the issuer's door.
struct KeySetAges: Sendable {
  enum Step: Hashable, Sendable {
    case use
    /// The keys at hand are good enough, and a little old.
    case useAndRenew
    case fetch
    /// It was asked a moment ago, in vain.
    case refuse
  }

  static let freshFor = Duration.seconds(3_600)
  /// Past this keys are not used at all: one that the issuer withdrew must end some time, even
  /// where the issuer is away.
  static let usableFor = Duration.seconds(86_400)
  static let attemptsApart = Duration.seconds(30)
  /// After one that failed: whoever was told to come again in so long is not sent away again.
  static let failuresApart = Duration.seconds(5)

  private(set) var fetched: Timestamp?
  private(set) var attempted: Timestamp?
  /// Why the last attempt failed; nil where it did not.
  private(set) var fault: String?

  mutating func began(at now: Timestamp) { attempted = now }

  mutating func succeeded(at now: Timestamp) {
    fetched = now
    fault = nil
  }

  mutating func failed(_ fault: String) { self.fault = fault }

  /// Whether the keys at hand, if there are any, may still open.
  func isUsable(at now: Timestamp) -> Bool {
    fetched.map { $0.elapsed(until: now) < Self.usableFor } ?? false
  }

  func step(isKnown: Bool, at now: Timestamp) -> Step {
    let age = fetched.map { $0.elapsed(until: now) }
    let apart = fault == nil ? Self.attemptsApart : Self.failuresApart
    let mayAsk = attempted.map { $0.elapsed(until: now) >= apart || now < $0 } ?? true
    if isKnown, let age, isUsable(at: now) {
      return age >= Self.freshFor && mayAsk ? .useAndRenew : .use
    }
    return mayAsk ? .fetch : .refuse
  }
}
