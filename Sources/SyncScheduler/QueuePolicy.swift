package import Model

/// The settings and limits of the queue's decisions.
package struct QueuePolicy: Hashable, Sendable {
  /// How long a lazy mutation waits for a later one that replaces it; zero sends at once.
  package var debounce: Duration
  /// How many unrelated lazy mutations of a device are sent together, 1 to ``parallelMax``.
  package let parallel: Int
  /// How long after its arrival a forced mutation can still be sent.
  package var forceDeadline: Duration
  /// How often the oldest mutation probes an unavailable upstream.
  package var probe: Duration
  /// When an attempt without a response counts as lost. Longer than upstream's own timeout.
  package var answerDeadline: Duration
  /// How long a mutation without `expires` waits; it bounds every wait.
  package var expiry: Duration
  /// Limit of the unfinished mutations of one device.
  package var itemsMax: Int
  /// Limits of the device's own rows and mutations.
  package var quota: DataQuota

  package static let parallelMax = 4
  /// A debounced mutation waits at most this many times the debounce, however often it is replaced.
  static let debounceFactorMax: Int64 = 10
  /// Failures while others succeed that make a mutation poison.
  package static let strikesMax = 8
  /// Limit of the forced mutations of one device in flight: a caller waits for each.
  static let forcedMax = 4
  /// The minimum time between two attempts that a caller waits for, since these ignore back-off.
  package static let forceSpacing = Duration.milliseconds(500)
  /// The longest `Retry-After` that is honoured, so that one response cannot stop a queue for days.
  package static let retryAfterMax = Duration.seconds(3600)

  package init(
    debounce: Duration = .zero, parallel: Int = 1, forceDeadline: Duration = .seconds(10),
    probe: Duration = .seconds(5), answerDeadline: Duration = .seconds(60),
    expiry: Duration = .seconds(30 * 86_400), itemsMax: Int = 1_000,
    quota: DataQuota = .unlimited
  ) {
    self.debounce = debounce
    self.parallel = min(max(parallel, 1), Self.parallelMax)
    self.forceDeadline = forceDeadline
    self.probe = probe
    self.answerDeadline = answerDeadline
    self.expiry = expiry
    self.itemsMax = itemsMax
    self.quota = quota
  }
}

/// The wait after a transient failure: full jitter, so that mutations that failed together are not
/// retried together.
package enum BackOff {
  static let base = Duration.seconds(1)
  static let delayMax = Duration.seconds(60)
  /// After this many attempts waits can be longer.
  static let patientAttempts = 10
  static let patientDelayMax = Duration.seconds(300)

  /// Returns the longest wait after this many attempts.
  package static func ceiling(attempts: Int) -> Duration {
    guard attempts <= patientAttempts else { return patientDelayMax }
    return min(base * (1 << min(max(attempts - 1, 0), 6)), delayMax)
  }

  /// Returns a wait drawn uniformly from zero to the ceiling, in whole milliseconds.
  package static func delay(
    attempts: Int, using random: inout some RandomNumberGenerator
  ) -> Duration {
    .milliseconds(Int64.random(in: 0...ceiling(attempts: attempts).milliseconds, using: &random))
  }
}
