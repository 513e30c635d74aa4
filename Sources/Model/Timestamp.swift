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

  /// The time between the two; zero where the clock went backwards in between.
  package func elapsed(until later: Timestamp) -> Duration {
    .milliseconds(max(0, later.milliseconds - milliseconds))
  }

  package func advanced(by duration: Duration) -> Timestamp {
    Timestamp(milliseconds: milliseconds + duration.milliseconds)
  }
}

extension Duration {
  /// Whole milliseconds, rounded toward zero, saturating.
  package var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    guard !overflow else { return seconds < 0 ? .min / 2 : .max / 2 }
    return product + attoseconds / 1_000_000_000_000_000
  }

  /// Whole seconds, rounded toward zero.
  package var wholeSeconds: Int64 { components.seconds }
}
