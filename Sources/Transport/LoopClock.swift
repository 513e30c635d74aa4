import Glibc

/// The two kernel clocks as a loop reads them: once a turn, then cached.
///
/// Deliberately not a parameter: the loop sleeps in `epoll_wait` and on a timerfd, which follow the
/// kernel's clock, so a loop on another clock would not work. What is decided *by* time takes
/// instants as arguments instead.
package enum LoopClock {
  /// CLOCK_MONOTONIC, the clock of `epoll_wait` and of the loop's timerfd.
  package static func now() -> LoopInstant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return LoopInstant(
      nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
  }

  /// Seconds since 1970, at the kernel's tick (4 ms late at most).
  static func wallSeconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &time)
    return Int64(time.tv_sec)
  }
}
