package import Model

/// Decides when events of one kind are logged: the first, and then one a minute. What repeats with each
/// request would fill the log otherwise.
package struct LogPace {
  /// The time between two log lines of one kind.
  static let interval = Duration.seconds(60)

  private var counts: [String: Int] = [:]
  private var logged: [String: Timestamp] = [:]

  package init() {}

  /// Notes an event.
  ///
  /// - Parameter kind: one of a limited number of names, all of which are kept.
  /// - Returns: the number of events since the last log line, this one included, if a line is due.
  package mutating func note(_ kind: String, at now: Timestamp) -> Int? {
    counts[kind, default: 0] += 1
    if let last = logged[kind], last.elapsed(until: now) < Self.interval { return nil }
    logged[kind] = now
    return counts.removeValue(forKey: kind)
  }
}
