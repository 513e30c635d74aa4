/// What of a device's queue is not held in memory: calm ones from a place on.
///
/// Calm is what waits for nothing but its turn: queued, due, never sent, not forced, and with no time
/// that a start would cut. While the first of a queue decide, these change nothing, and none of them
/// changes before it is read, see ``DeviceQueue/needsTail(at:policy:)``.
package struct QueueTail: Hashable, Sendable {
  /// What is held has a place before it, or is not calm.
  package let start: Int64
  /// None of them expires before it.
  package let firstExpiry: Timestamp
  /// Where they go, perhaps with others where some went that were read since.
  package let upstreams: Set<String>

  package init(start: Int64, firstExpiry: Timestamp, upstreams: Set<String>) {
    self.start = start
    self.firstExpiry = firstExpiry
    self.upstreams = upstreams
  }

  /// Whether a mutation that a queue holds may be left unread.
  package static func mayTake(_ item: Mutation, at now: Timestamp, policy: QueuePolicy) -> Bool {
    item.state == .queued && item.mode != .force && !item.everSent
      && item.due.time <= now && item.gatheredSince <= now && (item.ended ?? now) <= now
      && item.armedUntil == nil && item.expires <= now.advanced(by: policy.expiry)
  }

  /// What is left of it when those before a place were read.
  package func from(_ place: Int64) -> QueueTail {
    QueueTail(start: place, firstExpiry: firstExpiry, upstreams: upstreams)
  }
}
