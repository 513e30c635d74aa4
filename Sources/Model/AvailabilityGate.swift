/// Whether another party is available, judged by the outcomes of the calls to it, and which calls are
/// admitted during an outage. It is a value: the time is an argument.
///
/// While the party is available, all calls are admitted. An outage begins with a call that could not
/// reach it, or after too many failures in a row. Then no call is admitted until a probe is due, and any
/// response ends the outage. How long that takes is in ``Rules``.
package struct AvailabilityGate: Hashable, Sendable {
  /// When an outage begins, and how it is probed.
  package struct Rules: Hashable, Sendable {
    /// Failures in a row after which the party counts as unavailable, though it responds.
    package var failuresMax: Int
    /// The time from the beginning of an outage to the first probe.
    package var firstPause: Duration
    /// The minimum time between the end of a probe without a response and the next.
    package var nextPause: Duration
    /// The time from the start of one probe to that of the next, so that one that hangs does not delay
    /// others; nil for one probe at a time.
    package var probeInterval: Duration?

    package init(
      failuresMax: Int = .max, firstPause: Duration, nextPause: Duration,
      probeInterval: Duration? = nil
    ) {
      self.failuresMax = failuresMax
      self.firstPause = firstPause
      self.nextPause = nextPause
      self.probeInterval = probeInterval
    }
  }

  /// The outcome of a call, by what it says about the party.
  package enum Outcome: Hashable, Sendable {
    case success
    /// A response that is neither a success nor a failure of the party: a refusal.
    case refusal
    /// A failure that counts. `isResponse`: a response reports it, so that the party is available until
    /// too many follow each other.
    case failure(isResponse: Bool)
    /// The party could not be reached, or demands a pause.
    case unreachable
    /// No information about the party.
    case nothingSent
  }

  package enum Admission: Hashable, Sendable {
    case granted
    /// The time to wait; nil for until the probe has ended.
    case waits(Duration?)
  }

  private struct Outage: Hashable {
    let probeInterval: Duration?
    var probeDue: Timestamp
    /// Whether a probe is in progress that the next waits for.
    var isProbing = false
  }

  private var outage: Outage?
  /// Failures in a row.
  private var failures = 0
  /// The time of the last success.
  package private(set) var lastSuccess: Timestamp?

  package init() {}

  package var isAvailable: Bool { outage == nil }

  /// When the next probe can start; nil without an outage, and while one is in progress that the next
  /// waits for.
  package var nextProbe: Timestamp? {
    guard let outage, !outage.isProbing else { return nil }
    return outage.probeDue
  }

  package func admits(at now: Timestamp) -> Bool {
    isAvailable || nextProbe.map { $0 <= now } ?? false
  }

  /// Records the start of an admitted call, which is a probe during an outage.
  package mutating func start(at now: Timestamp) {
    guard let outage else { return }
    if let interval = outage.probeInterval {
      self.outage?.probeDue = now.advanced(by: interval)
    } else {
      self.outage?.isProbing = true
    }
  }

  /// Starts a call if it is admitted.
  package mutating func admit(at now: Timestamp) -> Admission {
    guard admits(at: now) else { return .waits(nextProbe.map { now.elapsed(until: $0) }) }
    start(at: now)
    return .granted
  }

  /// Ends a started call that was not made after all: the next one can be the probe.
  package mutating func cancelStart(at now: Timestamp) {
    guard let outage else { return }
    if outage.probeInterval != nil {
      self.outage?.probeDue = now
    } else {
      self.outage?.isProbing = false
    }
  }

  /// Records the outcome of a call.
  ///
  /// - Returns: whether calls that wait for the end of a probe or of the outage should try again.
  @discardableResult
  package mutating func record(
    _ outcome: Outcome, at now: Timestamp, rules: Rules
  ) -> Bool {
    switch outcome {
    case .success:
      lastSuccess = now
      failures = 0
    case .refusal: failures = 0
    case .failure: failures += 1
    case .unreachable, .nothingSent: break
    }
    let before = outage
    if failures >= rules.failuresMax {
      begin(at: now, rules)
    } else if outcome.isResponse {
      outage = nil
    } else if let before {
      outage?.probeDue = max(before.probeDue, now.advanced(by: rules.nextPause))
      outage?.isProbing = false
    } else if outcome == .unreachable {
      begin(at: now, rules)
    }
    guard let before else { return false }
    return before.isProbing || isAvailable
  }

  /// Records a success of a call that was not admitted here.
  package mutating func succeeded(at now: Timestamp) {
    lastSuccess = now
    failures = 0
    outage = nil
  }

  private mutating func begin(at now: Timestamp, _ rules: Rules) {
    outage = Outage(
      probeInterval: rules.probeInterval, probeDue: now.advanced(by: rules.firstPause))
  }
}

extension AvailabilityGate.Outcome {
  /// Whether a response came, so that the party is reachable.
  fileprivate var isResponse: Bool {
    switch self {
    case .success, .refusal, .failure(isResponse: true): true
    case .failure(isResponse: false), .unreachable, .nothingSent: false
    }
  }
}
