import Transport

/// Spans as plain nanoseconds, for what is reckoned at every request: `Duration` counts attoseconds
/// in 128 bits, and adding one is ten times the work.
extension LoopInstant {
  /// A span in nanoseconds; what is longer than the clock goes is as long as it goes.
  static func nanoseconds(in span: Duration) -> UInt64 {
    LoopInstant(nanoseconds: 0).advanced(by: span).nanoseconds
  }

  /// The instant later by `nanoseconds`, held at ``distantFuture``.
  @inline(__always)
  func advanced(byNanoseconds nanoseconds: UInt64) -> LoopInstant {
    let (sum, overflow) = self.nanoseconds.addingReportingOverflow(nanoseconds)
    return overflow ? .distantFuture : LoopInstant(nanoseconds: sum)
  }
}
