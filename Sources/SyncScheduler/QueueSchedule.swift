package import Model

/// The mutations that a device's queue can send now, and when to check it again.
package struct QueueSchedule: Hashable, Sendable {
  /// A mutation that can be sent.
  package struct Ready: Hashable, Sendable {
    package let id: MutationID
    package let upstream: String
    /// Its position in the order of arrival of all devices: the smallest is the oldest.
    package let place: Int64
    /// Whether it is forced, or sent ahead for a forced one: it ignores outages of upstream.
    package let isForced: Bool
    /// Whether it is idempotent: its claim need not survive a power failure.
    package let isRepeatable: Bool

    package init(
      id: MutationID, upstream: String, place: Int64, isForced: Bool, isRepeatable: Bool = true
    ) {
      self.id = id
      self.upstream = upstream
      self.place = place
      self.isForced = isForced
      self.isRepeatable = isRepeatable
    }
  }

  /// At most one for each upstream, the first in order.
  package let ready: [Ready]
  /// When the schedule next changes by itself; nil if only an event changes it.
  package let wake: Timestamp?
  /// Counts the changes of all queues, so that an older schedule of a device is recognised when it is
  /// noted after a newer one; 0 for a schedule that no change led to, which is never too old.
  package let number: UInt64

  package init(ready: [Ready], wake: Timestamp?, number: UInt64 = 0) {
    self.ready = ready
    self.wake = wake
    self.number = number
  }

  package func numbered(_ number: UInt64) -> QueueSchedule {
    QueueSchedule(ready: ready, wake: wake, number: number)
  }
}

/// Builds a ``QueueSchedule`` while a queue is traversed in order.
struct QueueScheduleBuilder {
  let now: Timestamp
  private(set) var ready: [QueueSchedule.Ready] = []
  private var wake: Timestamp?
  /// Whether the held mutations do not determine the whole schedule.
  private(set) var reachesTail = false

  init(now: Timestamp) {
    self.now = now
  }

  /// Adds a time to check again, if there is one.
  mutating func wake(at time: Timestamp?) {
    guard let time else { return }
    wake = min(wake ?? time, time)
  }

  /// Adds a mutation that nothing but its due time holds back; the first of each upstream counts.
  mutating func look(at item: Mutation, dueAt due: Timestamp, isForced: Bool) {
    guard due <= now else { return wake(at: due) }
    guard !ready.contains(where: { $0.upstream == item.upstream }) else { return }
    ready.append(
      QueueSchedule.Ready(
        id: item.id, upstream: item.upstream, place: item.place, isForced: isForced,
        isRepeatable: item.unknownRule == .sendAgain))
  }

  mutating func noteTail() { reachesTail = true }

  var schedule: QueueSchedule { QueueSchedule(ready: ready, wake: wake) }
}
