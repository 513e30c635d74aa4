/// What a commit did to the outbox of hooks.
package struct HookEventCounts: Hashable, Sendable {
  /// The number of events added, by hook.
  package var added: [String: Int] = [:]
  /// The number of older events that made room for them, by hook.
  package var dropped: [String: Int] = [:]

  package init() {}

  package var isEmpty: Bool { added.isEmpty && dropped.isEmpty }

  package mutating func add(_ other: HookEventCounts) {
    added.merge(other.added, uniquingKeysWith: +)
    dropped.merge(other.dropped, uniquingKeysWith: +)
  }
}

/// One event of a hook out, the first of its entity that is not delivered.
package struct HookEvent: Hashable, Sendable {
  /// Its place in the outbox; later events have higher ones.
  package let sequence: Int64
  /// The events of one hook and one entity, which are delivered one after the other.
  package let lane: Int64
  /// `webhook-id`, the same in each attempt.
  package let id: String
  package let body: [UInt8]
  package let created: Timestamp
  /// The number of failed attempts to deliver it.
  package let attempts: Int

  package init(
    sequence: Int64, lane: Int64, id: String, body: [UInt8], created: Timestamp, attempts: Int
  ) {
    self.sequence = sequence
    self.lane = lane
    self.id = id
    self.body = body
    self.created = created
    self.attempts = attempts
  }
}

/// What follows an attempt to deliver an event.
package enum HookEventEnd: Hashable, Sendable {
  /// It is removed, delivered or given up.
  case removed
  /// It and the later events of its entity wait until then.
  case waits(until: Timestamp)
}
