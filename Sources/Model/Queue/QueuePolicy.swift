/// The settings and limits that the queue's decisions take.
package struct QueuePolicy: Hashable, Sendable {
  /// How long a lazy change waits for another of its kind; zero sends at once.
  package var debounce: Duration
  /// How many unrelated lazy changes of a device go together, 1 to ``parallelMax``.
  package let parallel: Int
  /// How long a forced change tries to go, from its arrival.
  package var forceDeadline: Duration
  /// How often the oldest change tries an upstream that is away.
  package var probe: Duration
  /// After it, an attempt without an answer counts as lost. Longer than upstream's own timeout.
  package var answerDeadline: Duration
  /// How long an item waits that names no `expires`; with it every wait has an end.
  package var expiry: Duration
  /// Unfinished changes of one device.
  package var itemsMax: Int
  /// Of the device's own rows and mutations.
  package var quota: DataQuota

  package static let parallelMax = 4
  /// A debounced change waits at most this many times the debounce in all, however often replaced.
  package static let debounceFactorMax: Int64 = 10
  /// Failures while others succeed that make a change poison.
  package static let strikesMax = 8
  /// Forced changes of one device that are in flight together: a caller waits for each.
  package static let forcedMax = 4
  /// The least time between two attempts of what a caller waits for, since these ignore back-off.
  package static let forceSpacing = Duration.milliseconds(500)
  /// Longer demands of upstream are cut to it, so that one answer cannot stop a queue for days.
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
