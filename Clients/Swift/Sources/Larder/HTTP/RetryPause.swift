/// Pauses after failures in a row.
enum RetryPause {
  private static let shortest = Duration.seconds(1)
  /// Also where Larder, or a proxy, asks for more.
  private static let retryAfterMax = 3_600

  /// Twice as long after each failure, up to the longest, with a random part; at least what Larder asks for.
  static func pause(after failures: Int, longest: Duration, retryAfter: Int?) -> Duration {
    let grown = shortest * (1 << min(max(failures, 1) - 1, 10))
    let asked = Duration.seconds(min(retryAfter ?? 0, retryAfterMax))
    return max(asked, min(longest, grown) * Double.random(in: 0.5...1))
  }
}
