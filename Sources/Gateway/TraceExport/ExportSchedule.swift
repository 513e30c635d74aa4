/// Decides after each attempt to export a batch how to continue (OTLP specification, "Failures" of OTLP/HTTP).
enum ExportSchedule {
  /// The response of the collector.
  enum Answer: Hashable {
    /// Status 2xx. Spans that the collector rejected must not be sent again.
    case accepted(rejected: Int, reason: String?)
    case status(Int, retryAfter: Duration?)
    /// No usable response.
    case none(reason: String)
    /// A response that cannot be read. The collector may have accepted the spans, which would be there
    /// twice after another attempt.
    case unreadable(reason: String)
  }

  enum Step: Hashable {
    case done(rejected: Int, reason: String?)
    case drop(reason: String)
    case retry(after: Duration, reason: String)
  }

  /// Attempts for one batch. Spans that arrive in the meantime wait, or are dropped.
  static let attemptsMax = 6
  private static let pauseFirst = Duration.seconds(1)
  private static let pauseMax = Duration.seconds(30)
  /// A collector that wants a longer pause is asked after this time.
  static let retryAfterMax = Duration.seconds(120)
  /// All other failures are final.
  private static let retried: Set<Int> = [429, 502, 503, 504]

  /// - Parameters:
  ///   - attempt: the number of attempts made; at least 1.
  ///   - chance: from 0 to 1, spreads the attempts of many services.
  static func step(after answer: Answer, attempt: Int, chance: Double) -> Step {
    switch answer {
    case .accepted(let rejected, let reason):
      return .done(rejected: rejected, reason: reason)
    case .unreadable(let reason):
      return .drop(reason: reason)
    case .none(let reason):
      return retry(attempt, nil, chance, reason)
    case .status(let status, let retryAfter):
      let reason = "status \(status)"
      guard retried.contains(status) else { return .drop(reason: reason) }
      return retry(attempt, retryAfter, chance, reason)
    }
  }

  private static func retry(
    _ attempt: Int, _ retryAfter: Duration?, _ chance: Double, _ reason: String
  ) -> Step {
    guard attempt < attemptsMax else { return .drop(reason: reason) }
    if let retryAfter { return .retry(after: min(retryAfter, retryAfterMax), reason: reason) }
    let doubled = min(pauseMax, pauseFirst * (1 << min(attempt - 1, 10)))
    return .retry(after: doubled * (0.5 + chance / 2), reason: reason)
  }
}
