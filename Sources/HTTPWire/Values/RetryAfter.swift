/// The field `Retry-After` (RFC 9110 10.2.3): seconds, or the moment from which on another request is
/// welcome.
package enum RetryAfter {
  /// Longer waits count as this one, as ages do in a cache (RFC 9111 1.2.2).
  private static let secondsMax: Int64 = 1 << 31

  /// - Returns: how long to wait from `now` on, zero where the moment is over; nil for what is
  ///   neither.
  package static func wait(_ text: String, now: HTTPDate) -> Duration? {
    if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      return .seconds(min(Int64(text) ?? secondsMax, secondsMax))
    }
    guard let date = HTTPDate(text, now: now) else { return nil }
    return .seconds(min(max(0, date.secondsSince1970 - now.secondsSince1970), secondsMax))
  }
}
