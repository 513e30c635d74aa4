/// A message that upstream sent to a webhook, read and checked: everything that one transaction
/// stores of it.
package struct HookDelivery: Sendable {
  /// When the change happened that a message reports, by the sender's clock.
  package struct Moment: Hashable, Sendable {
    /// Since 1970-01-01T00:00:00Z.
    package let microseconds: Int64
    /// Whether it is the time of the change itself, and not that of an attempt to send the message.
    package let isExact: Bool

    package init(microseconds: Int64, isExact: Bool) {
      self.microseconds = microseconds
      self.isExact = isExact
    }
  }

  /// The name of the webhook in the settings.
  package let hook: String
  /// The sender's id of the message, the same in each attempt to send it.
  package let event: String
  /// Nil if the sender does not say: messages then count in the order in which they arrive.
  package let moment: Moment?
  package let received: Timestamp
  /// The values of ``entities``, see ``NormalisedResponse/bytes``.
  package var bytes: [UInt8] = []
  /// Entities with the fields that all callers may see.
  package var entities: [NormalisedResponse.Entity] = []
  /// Changed entities of which nothing is stored: their copies become due.
  package var changed: [EntityKey] = []
  /// Fields of these entities that are not stored: a public copy that has one of them becomes due.
  package var withheld: [EntityKey: Set<String>] = [:]
  /// Deleted entities that all callers may know of.
  package var deletions: [EntityKey] = []
  /// Deleted entities that only callers who have a copy may know of.
  package var privateDeletions: [EntityKey] = []
  /// Other targets that become due in every scope.
  package var invalidations: [InvalidationTarget] = []

  /// How far a sender's clock can be ahead: as far as a signature's time can be away.
  package static let aheadMax = Duration.seconds(300)

  /// - Parameter moment: a time further ahead than ``aheadMax`` counts as the message's arrival. Everything
  ///   that the sender reports later would be late otherwise, for as long as its clock is wrong.
  package init(hook: String, event: String, moment: Moment?, received: Timestamp) {
    self.hook = hook
    self.event = event
    let latest = received.advanced(by: Self.aheadMax).milliseconds
    self.moment = moment.map {
      $0.microseconds / 1_000 <= latest
        ? $0 : Moment(microseconds: received.milliseconds * 1_000, isExact: false)
    }
    self.received = received
  }

  /// An estimate of its size in memory.
  package var byteCount: Int {
    let keys =
      entities.count + changed.count + withheld.count + deletions.count + privateDeletions.count
    return bytes.count + event.utf8.count + keys * 128 + invalidations.count * 64
  }
}

extension HookDelivery.Moment {
  /// Reads an ISO 8601 moment, as restricted by RFC 3339; without a zone it is in UTC.
  package init?(iso8601 text: String, isExact: Bool) {
    guard let value = CalendarValue(iso8601: text) ?? CalendarValue(iso8601: "\(text)Z"),
      value.time != nil
    else { return nil }
    self.init(
      microseconds: value.seconds * 1_000_000 + Int64(value.nanoseconds / 1_000),
      isExact: isExact)
  }
}

/// What became of a ``HookDelivery`` in the store.
package struct HookReceipt: Hashable, Sendable {
  /// Whether a message with the same id was stored before; then nothing was done.
  package var isRepeated = false
  /// Entities whose values were written, changed or not.
  package var written = 0
  package var deleted = 0
  /// Entities that a later message of the same webhook has already changed; nothing was done.
  package var outdated = 0
  /// Entities that became due instead, or as well, because a later change may have been stored.
  package var disputed = 0

  package init() {}
}
