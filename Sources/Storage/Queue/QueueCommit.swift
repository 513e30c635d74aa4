package import Model
package import SyncScheduler

/// The inputs of a queue decision that come from its environment.
package struct QueueTiming: Sendable {
  /// Queue time, see ``SyncScheduler/QueueClock``.
  package let now: Timestamp
  package let policy: QueuePolicy
  /// Random for each start of the server; identifies its claims.
  package let boot: String
  let random: @Sendable () -> UInt64

  package init(
    now: Timestamp, policy: QueuePolicy, boot: String, random: @escaping @Sendable () -> UInt64
  ) {
    self.now = now
    self.policy = policy
    self.boot = boot
    self.random = random
  }

  var generator: Generator { Generator(source: random) }

  struct Generator: RandomNumberGenerator {
    let source: @Sendable () -> UInt64

    mutating func next() -> UInt64 { source() }
  }
}

/// The result of a command on a device's queue, and what the queue can send after it.
package struct QueueCommit<Output: Sendable>: Sendable {
  package let answer: Output
  package let outlook: QueueSchedule
  /// What stops the queue.
  package let control: QueueControl
  package let report: CommitReport

  /// Whether an upstream refused the last credential: nothing is sent to it automatically until the
  /// device presents another.
  package var needsCredential: Bool { control.needsCredential }
}

/// The number of mutations held in the queues of all devices.
package struct QueueLoad: Hashable, Sendable {
  /// Mutations that are sent automatically, queued or in flight.
  package let pending: Int
  package let parked: Int
  /// When the oldest pending mutation was enqueued.
  package let oldest: Timestamp?
}
