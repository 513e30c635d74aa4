package import Model
import SyncScheduler

/// Clock and randomness of the outbox, all injected.
package struct PushEnvironment: Sendable {
  /// Identifies this start in claims.
  let boot: String
  let sleep: @Sendable (Duration) async throws -> Void
  /// A random number from 0 to 1, uniformly distributed.
  let chance: @Sendable () -> Double
  let random: RandomBytes
  private let clock: QueueClock
  private let reading: @Sendable () -> Duration

  /// - Parameters:
  ///   - reading: a monotonic clock.
  ///   - boot: random for each start.
  ///   - sleep: returns after the duration, or throws if its task is cancelled.
  package init(
    wall: Timestamp, reading: @escaping @Sendable () -> Duration, boot: String,
    random: RandomBytes, chance: @escaping @Sendable () -> Double,
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.boot = boot
    self.sleep = sleep
    self.chance = chance
    self.random = random
    clock = QueueClock(wall: wall, reading: reading())
    self.reading = reading
  }

  /// See ``SyncScheduler/QueueClock``.
  var now: Timestamp { clock.now(reading: reading()) }

  /// A UUID of version 4 (RFC 9562 section 5.4).
  func makeUUID() -> String {
    var bytes = random.bytes(16)
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    let parts = [bytes[0..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10..<16]]
    return parts.map { Hexadecimal.encode($0) }.joined(separator: "-")
  }
}
