import Logging
package import Model
import Storage
package import SyncScheduler

/// The environment of the queue: its clock, randomness and settings.
package struct QueueEnvironment: Sendable {
  /// The pause before a failed store operation is retried.
  static let storePause = Duration.seconds(1)
  /// The pause before damaged rows are read again: only a restored backup repairs them.
  static let damagePause = Duration.seconds(60)

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

  /// Waits after an error of the store, and logs the error. Damage is logged once, with its remedy,
  /// when the store is opened.
  func pause(after error: StorageError, _ logger: Logger) async throws {
    guard !error.isDamage else { return try await sleep(Self.damagePause) }
    logger.error("a queue could not be read or written", metadata: ["cause": "\(error)"])
    try await sleep(Self.storePause)
  }
}

extension StorageError {
  /// Whether the error is permanent.
  var isDamage: Bool { if case .corrupt = self { true } else { self == .moved } }
}
