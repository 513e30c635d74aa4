/// When a mutation may go, and why not before: the reason tells what may shorten the wait.
package struct DueTime: Hashable, Sendable {
  package enum Reason: String, Hashable, Sendable, CaseIterable {
    case atOnce
    /// More of its kind may come; ends with whatever meets it, and with a flush.
    case debounce
    /// After a failure; ends with a flush.
    case backOff
    /// Upstream named the time; nothing shortens it.
    case retryAfter
    /// In flight: the answer is late after this time, and its outcome unknown.
    case answer
  }

  package let time: Timestamp
  package let reason: Reason

  package init(_ time: Timestamp, _ reason: Reason) {
    self.time = time
    self.reason = reason
  }
}
