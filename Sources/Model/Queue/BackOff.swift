/// How long a change waits after a failure that may pass: full jitter, so that many that failed
/// together do not come back together.
package enum BackOff {
  static let base = Duration.seconds(1)
  static let delayMax = Duration.seconds(60)
  /// From this attempt on waits may be longer.
  static let patientAttempts = 10
  static let patientDelayMax = Duration.seconds(300)

  /// The longest wait that may follow this many attempts.
  package static func ceiling(attempts: Int) -> Duration {
    guard attempts <= patientAttempts else { return patientDelayMax }
    return min(base * (1 << min(max(attempts - 1, 0), 6)), delayMax)
  }

  /// A wait drawn evenly from zero to the ceiling, in whole milliseconds.
  package static func delay(
    attempts: Int, using random: inout some RandomNumberGenerator
  ) -> Duration {
    .milliseconds(Int64.random(in: 0...ceiling(attempts: attempts).milliseconds, using: &random))
  }
}
