/// What a device's queue could send now, and when it must be looked at again.
package struct QueueSchedule: Hashable, Sendable {
  /// One that may go.
  package struct Ready: Hashable, Sendable {
    package let id: MutationID
    package let upstream: String
    /// Its place in the one order of arrival of all devices: the smallest is the oldest.
    package let place: Int64
    /// Forced, or gone ahead for a forced one: it ignores whether upstream is away.
    package let isForced: Bool
    /// Sent twice it does no more than once: its claim need not survive a power failure.
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
  /// The next time that changes anything by itself; nil if only an event can.
  package let wake: Timestamp?

  package init(ready: [Ready], wake: Timestamp?) {
    self.ready = ready
    self.wake = wake
  }
}
