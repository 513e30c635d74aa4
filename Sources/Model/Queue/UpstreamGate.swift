/// What may go to one upstream at once: a bound on what is in flight, one probe at a time while it
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
  /// Nil while upstream is reachable, else when the next probe is due.
  private var probeDue: Timestamp?
  private var probeStarted: Timestamp?
  /// When it last did what it was asked, see ``DeviceQueue/settling(_:as:othersSucceeded:at:policy:using:)``.
  package private(set) var lastSucceeded: Timestamp?

  /// Between the end of a slow probe and the next.
  private static let probePause = Duration.milliseconds(500)

  package init(concurrencyMax: Int) {
    self.concurrencyMax = max(1, concurrencyMax)
    allowance = self.concurrencyMax
  }

  package var isAway: Bool { probeDue != nil }

  /// When the next probe may go; nil where time alone opens nothing.
  var nextProbe: Timestamp? { probeStarted == nil ? probeDue : nil }

  func admits(isForced: Bool, at now: Timestamp) -> Bool {
    if isForced { return forced < concurrencyMax }
    guard let probeDue else { return ordinary < allowance }
    return probeStarted == nil && probeDue <= now
  }

  /// - Returns: whether the attempt is a probe.
  mutating func start(isForced: Bool, at now: Timestamp) -> Bool {
    if isForced {
      forced += 1
      return false
    }
    ordinary += 1
    guard isAway else { return false }
    probeStarted = now
    return true
  }

  /// - Parameter outcome: nil where nothing was sent after all.
  mutating func end(
    isForced: Bool, isProbe: Bool, as outcome: SendOutcome?, at now: Timestamp, probe: Duration
  ) {
    if isForced { forced -= 1 } else { ordinary -= 1 }
    let started = isProbe ? probeStarted ?? now : now
    if isProbe { probeStarted = nil }
    guard let outcome else { return }
    if case .applied = outcome { succeeded(at: now) }
    if outcome.wasAnswered {
      probeDue = nil
      allowance = min(allowance * 2, concurrencyMax)
    } else if isAway ? isProbe : outcome == .notSent(isAway: true) {
      probeDue = max(started.advanced(by: probe), now.advanced(by: Self.probePause))
      allowance = 1
    }
  }

  mutating func succeeded(at now: Timestamp) {
    lastSucceeded = now
  }
}
