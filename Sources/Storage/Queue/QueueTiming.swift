package import Model

/// What every decision of the queue takes from its surroundings.
package struct QueueTiming: Sendable {
  /// Queue time, see ``Model/QueueClock``.
  package let now: Timestamp
  package let policy: QueuePolicy
  /// Random for each start of the server: names its claims.
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
