import Glibc

/// A moment on the kernel's monotonic clock, in nanoseconds since an arbitrary start.
///
/// One machine word instead of `ContinuousClock.Instant`'s two 64-bit halves, since every
/// connection holds several and every turn of a loop compares them. All loops of a process share
/// the clock, so instants of different loops compare.
package struct LoopInstant: Comparable, Hashable, Sendable {
  package let nanoseconds: UInt64

  package init(nanoseconds: UInt64) {
    self.nanoseconds = nanoseconds
  }

  /// A deadline that never comes.
  package static let distantFuture = LoopInstant(nanoseconds: .max)

  package static func < (left: LoopInstant, right: LoopInstant) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// Returns the instant `duration` later, clamped to `distantFuture` and the clock's start.
  package func advanced(by duration: Duration) -> LoopInstant {
    let (seconds, attoseconds) = duration.components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if overflow { return seconds > 0 ? .distantFuture : LoopInstant(nanoseconds: 0) }
    let delta = whole.addingReportingOverflow(attoseconds / 1_000_000_000).partialValue
    if delta >= 0 {
      let (sum, overflow) = nanoseconds.addingReportingOverflow(UInt64(delta))
      return LoopInstant(nanoseconds: overflow ? .max : sum)
    }
    let back = delta.magnitude
    return LoopInstant(nanoseconds: back > nanoseconds ? 0 : nanoseconds - back)
  }

  /// Returns the time from `earlier` to this instant; zero if `earlier` is later.
  package func elapsed(since earlier: LoopInstant) -> Duration {
    guard nanoseconds > earlier.nanoseconds else { return .zero }
    return .nanoseconds(Int64(clamping: nanoseconds - earlier.nanoseconds))
  }

  package static func + (instant: LoopInstant, duration: Duration) -> LoopInstant {
    instant.advanced(by: duration)
  }
}

/// The two kernel clocks, which a loop reads once a turn and caches.
///
/// Deliberately not injectable: the loop sleeps in `epoll_wait` and on a timerfd, which follow the
/// kernel's clock, so a loop on another clock would not work. Code that makes decisions *by* time takes
/// instants as arguments instead.
package enum LoopClock {
  /// CLOCK_MONOTONIC, the clock of `epoll_wait` and of the loop's timerfd.
  package static func now() -> LoopInstant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return LoopInstant(
      nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
  }

  /// The wall clock, for logs: milliseconds since 1970.
  package static func wallTime() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) &* 1_000 &+ Int64(time.tv_nsec) / 1_000_000
  }

  /// Seconds since 1970, at the kernel's tick (4 ms late at most).
  static func wallSeconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &time)
    return Int64(time.tv_sec)
  }
}
