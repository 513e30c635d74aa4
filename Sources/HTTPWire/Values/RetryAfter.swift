/// The field `Retry-After` (RFC 9110 10.2.3): seconds, or the moment from which on another request is
/// welcome.
package enum RetryAfter {
  /// - Returns: how long to wait from `now` on, zero where the moment is over; nil for what is
  ///   neither.
  package static func wait(_ text: String, now: HTTPDate) -> Duration? {
    if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      return Int64(text).map { .seconds($0) }
    }
    guard let date = HTTPDate(text, now: now) else { return nil }
    return .seconds(max(0, date.secondsSince1970 - now.secondsSince1970))
  }
}
