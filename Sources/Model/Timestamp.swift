/// Wall-clock time in milliseconds since 1970-01-01T00:00:00Z: for ages and for people, never for
/// order (see ``CallNumber`` and ``Revision``).
package struct Timestamp: Hashable, Comparable, Sendable {
  package let milliseconds: Int64

  package init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  package static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.milliseconds < right.milliseconds
  }

  /// Returns the time until a later timestamp; zero if the clock went backwards in between.
  package func elapsed(until later: Timestamp) -> Duration {
    let (span, overflow) = later.milliseconds.subtractingReportingOverflow(milliseconds)
    return .milliseconds(overflow ? (later > self ? .max : 0) : max(0, span))
  }

  /// Returns the time from this moment to another; negative if the other is earlier.
  package func distance(to other: Timestamp) -> Duration {
    let (span, overflow) = other.milliseconds.subtractingReportingOverflow(milliseconds)
    return .milliseconds(overflow ? (other > self ? .max : .min) : span)
  }

  /// Returns the moment that much later, saturating at both ends.
  package func advanced(by duration: Duration) -> Timestamp {
    let span = duration.milliseconds
    let (sum, overflow) = milliseconds.addingReportingOverflow(span)
    return Timestamp(milliseconds: overflow ? (span < 0 ? .min : .max) : sum)
  }
}

extension Timestamp {
  /// Parses an ISO 8601 moment, as restricted by RFC 3339; without a zone it is in UTC. What is finer than a millisecond is
  /// dropped.
  package init?(iso8601 text: String) {
    guard let value = CalendarValue(iso8601: text) ?? CalendarValue(iso8601: "\(text)Z"),
      value.time != nil
    else { return nil }
    self.init(milliseconds: value.seconds * 1000 + Int64(value.nanoseconds / 1_000_000))
  }

  /// `2026-01-02T03:04:05.678Z`, for display.
  package var iso8601: String {
    let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    let seconds = remainder < 0 ? quotient - 1 : quotient
    let rest = Int(remainder < 0 ? remainder + 1000 : remainder)
    return CalendarValue(seconds: seconds, nanoseconds: rest * 1_000_000)?.iso8601
      ?? "\(milliseconds) ms since 1970"
  }
}

extension Duration {
  /// Whole milliseconds, rounded toward zero, saturating.
  package var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    // Half of the range, so that a timestamp can be added to it.
    let bound = Int64.max / 2
    guard !overflow, (-bound...bound).contains(product) else { return seconds < 0 ? -bound : bound }
    return product + attoseconds / 1_000_000_000_000_000
  }

  /// Whole seconds, rounded toward zero.
  package var wholeSeconds: Int64 { components.seconds }
}

/// A clock as a parameter: the composition passes the system's, tests pass their own.
package struct WallClock: Sendable {
  private let read: @Sendable () -> Timestamp

  package init(_ read: @escaping @Sendable () -> Timestamp) {
    self.read = read
  }

  package func now() -> Timestamp { read() }
}
