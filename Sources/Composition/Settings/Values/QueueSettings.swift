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
  /// Unfinished changes of one device.
  package var itemsMax = 1_000
  package var forceDeadline = Duration.seconds(10)
  package var probeInterval = Duration.seconds(5)
  package var onLogout = OnLogout.drain
  /// Codes in upstream's errors after which the same change may go through.
  package var transientCodes: [String] = []
}
