/// What may go to one upstream at once: a bound on what is in flight, a probe now and then while it
/// is away, and a gentle start after it came back.
///
/// Forced items have a bound of their own of the same size and ignore that upstream is away: a
/// caller waits for each of them.
package struct UpstreamGate: Hashable, Sendable {
  /// The most in flight at once, ordinary and forced each.
  package let concurrencyMax: Int
  package private(set) var ordinary = 0
  package private(set) var forced = 0
  /// How many ordinary ones may be in flight: one after it came back, twice as many with each
  /// answer, so that what gathered in hours does not fall on it in one moment.
  private var allowance: Int
  private var absence: Absence?
  /// Attempts in a row after which it broke down over the request or asked for another time.
  private var failures = 0
  /// When it last did what it was asked, see
  /// ``DeviceQueue/settling(_:as:othersSucceeded:at:using:)``.
  package private(set) var lastSucceeded: Timestamp?

  private struct Absence: Hashable, Sendable {
    /// From one probe's start to the next's: one that hangs does not keep back others.
    let interval: Duration
    var probeDue: Timestamp
  }

  /// After so many failures in a row it is taken for away: each device that waits would otherwise find
  /// out for itself, and an upstream that fails under load would get no relief.
  static let failuresMax = 32

  /// The least time between the end of a failed probe and the next.
  private static let probePause = Duration.milliseconds(500)

  package init(concurrencyMax: Int) {
    self.concurrencyMax = max(1, concurrencyMax)
    allowance = self.concurrencyMax
  }

  package var isAway: Bool { absence != nil }

  /// When the next probe may go; nil where time alone opens nothing.
  var nextProbe: Timestamp? { ordinary < concurrencyMax ? absence?.probeDue : nil }

  func admits(isForced: Bool, at now: Timestamp) -> Bool {
    if isForced { return forced < concurrencyMax }
    guard let absence else { return ordinary < allowance }
    return ordinary < concurrencyMax && absence.probeDue <= now
  }

  mutating func start(isForced: Bool, at now: Timestamp) {
    if isForced {
      forced += 1
    } else {
      ordinary += 1
      if let interval = absence?.interval { absence?.probeDue = now.advanced(by: interval) }
    }
  }

  /// - Parameter outcome: nil where nothing was sent after all.
  mutating func end(
    isForced: Bool, as outcome: SendOutcome?, at now: Timestamp, probe: Duration
  ) {
    if isForced { forced -= 1 } else { ordinary -= 1 }
    guard let outcome, outcome != .operationChanged, outcome != .credentialUnreadable else {
      absence?.probeDue = now
      return
    }
    switch outcome {
    case .applied: succeeded(at: now)
    case .transient, .unknown: failures += 1
    case .permanent, .authRefused, .anonymousRefused, .foundMissing: failures = 0
    case .notSent, .operationChanged, .credentialUnreadable: break
    }
    if failures >= Self.failuresMax {
      absence = Absence(interval: probe, probeDue: now.advanced(by: probe))
      allowance = 1
    } else if outcome.wasAnswered {
      absence = nil
      allowance = min(allowance * 2, concurrencyMax)
    } else if let due = absence?.probeDue {
      absence?.probeDue = max(due, now.advanced(by: Self.probePause))
    } else if outcome == .notSent(isAway: true) {
      absence = Absence(interval: probe, probeDue: now.advanced(by: probe))
      allowance = 1
    }
  }

  /// It did what it was asked, by the queue or by anybody else.
  mutating func succeeded(at now: Timestamp) {
    lastSucceeded = now
    failures = 0
    absence = nil
  }
}
