/// The sync queue's pace.
package struct QueueSettings: Sendable {
  package enum OnLogout: String, CaseIterable, Sendable {
    case drain
    case drop
    case park
  }

  package var debounce = Duration.zero
  /// Unrelated lazy changes of one device under way at once.
  package var parallelMax = 1
  package var forceDeadline = Duration.seconds(10)
  package var probeInterval = Duration.seconds(5)
  package var onLogout = OnLogout.drain
}
