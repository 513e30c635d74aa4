package import Model
import Storage
package import SyncScheduler

/// The environment of the queue: its clock, randomness and settings.
package struct QueueEnvironment: Sendable {
  package let policy: QueuePolicy
  private let clock: QueueClock
  private let reading: @Sendable () -> Duration
  private let boot: String
  private let random: @Sendable () -> UInt64
  let sleep: @Sendable (Duration) async throws -> Void

  /// - Parameters:
  ///   - reading: a monotonic clock.
  ///   - boot: a random id for each start.
  ///   - sleep: returns after the duration, or throws if its task is cancelled.
  package init(
    policy: QueuePolicy, wall: Timestamp, reading: @escaping @Sendable () -> Duration, boot: String,
    random: @escaping @Sendable () -> UInt64,
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.policy = policy
    clock = QueueClock(wall: wall, reading: reading())
    self.reading = reading
    self.boot = boot
    self.random = random
    self.sleep = sleep
  }

  var now: Timestamp { clock.now(reading: reading()) }

  var timing: QueueTiming {
    QueueTiming(now: now, policy: policy, boot: boot, random: random)
  }
}
