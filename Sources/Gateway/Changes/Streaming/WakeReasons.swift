/// Why a listener was woken; several reasons may have gathered.
package struct WakeReasons: OptionSet, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A commit, or an invalidation, touched what is listened to.
  package static let commit = WakeReasons(rawValue: 1)
  /// The commit touched the queue of the listener's device.
  package static let queue = WakeReasons(rawValue: 16)
  /// It is time for a sign of life.
  package static let beat = WakeReasons(rawValue: 2)
  /// Waiting long enough.
  package static let alarm = WakeReasons(rawValue: 4)
  /// The service drains, the listener's device has gone or its user's token has expired, or its task
  /// was cancelled: nothing more comes.
  package static let end = WakeReasons(rawValue: 8)
}
