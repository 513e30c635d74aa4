/// Whose turn it is: devices in a circle for each upstream, forced ones first, so that a device with
/// thousands of items waits no longer between two than one with a single item.
///
/// It knows of a device what its last ``DeviceOutlook`` told, nothing of its items.
package struct SendRotation: Sendable {
  /// A turn: claim what the device has first for this upstream, then tell how it went with
  /// ``ended(_:as:at:policy:)``, or ``ended(_:as:at:policy:)`` with nil if nothing was sent.
  package struct Turn: Hashable, Sendable {
    package let device: String
    package let ready: DeviceOutlook.Ready
  }

  package init(concurrencyMax: Int) {}

  /// Replaces what is known of a device: after each change of its queue.
  package mutating func note(_ outlook: DeviceOutlook, of device: String) {}

  /// The next to send, its place at the upstream taken; nil if nothing may go before ``wake``.
  package mutating func next(at now: Timestamp) -> Turn? { nil }

  /// Gives the place back.
  package mutating func ended(
    _ turn: Turn, as outcome: SendOutcome?, at now: Timestamp, policy: QueuePolicy
  ) {}

  /// Devices whose outlook is due to be asked anew.
  package mutating func woken(at now: Timestamp) -> [String] { [] }

  /// When ``woken(at:)`` or ``next(at:)`` has more by itself; nil if only an event can bring it.
  package var wake: Timestamp? { nil }

  package func lastSucceeded(_ upstream: String) -> Timestamp? { nil }
}
