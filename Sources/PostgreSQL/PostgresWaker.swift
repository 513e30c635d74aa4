internal import CPostgreSQL

/// What ends the waits of sessions from another thread, for good: an eventfd that stays readable.
package final class PostgresWaker: Sendable {
  /// −1 if the process has no descriptor left: then waits end by their deadlines alone.
  let descriptor: Int32

  package init() { descriptor = larder_pq_wake_new() }

  deinit { if descriptor >= 0 { larder_pq_wake_close(descriptor) } }

  package func wake() { if descriptor >= 0 { larder_pq_wake(descriptor) } }

  package var isWoken: Bool { larder_pq_wait(-1, 0, descriptor, 0) & 2 == 2 }

  /// Blocks the thread for as long, or until it is woken.
  func wait(atMost limit: Duration) {
    _ = larder_pq_wait(-1, 0, descriptor, Int32(clamping: Int(limit / .milliseconds(1))))
  }
}
