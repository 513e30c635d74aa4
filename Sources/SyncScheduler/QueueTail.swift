package import Model

/// The part of a device's queue that is not held in memory: idle mutations from a place on.
///
/// Idle mutations wait only for their turn: queued, due, never sent, not forced, and with no time that
/// a start would cut. They do not affect decisions about the first mutations of a queue, and none of
/// them changes before it is loaded, see ``DeviceQueue/needsTail(at:policy:)``.
package struct QueueTail: Hashable, Sendable {
  /// The first place of the tail: held mutations have a place before it, or are not idle.
  package let start: Int64
  /// None of its mutations expires earlier.
  package let firstExpiry: Timestamp
  /// Their upstreams; possibly more, if mutations were loaded since.
  package let upstreams: Set<String>

  package init(start: Int64, firstExpiry: Timestamp, upstreams: Set<String>) {
    self.start = start
    self.firstExpiry = firstExpiry
    self.upstreams = upstreams
  }

  /// Returns whether a mutation of a queue can stay in the tail.
  package static func mayTake(_ item: Mutation, at now: Timestamp, policy: QueuePolicy) -> Bool {
    item.state == .queued && item.mode != .force && !item.everSent
      && item.due.time <= now && item.gatheredSince <= now && (item.ended ?? now) <= now
      && item.armedUntil == nil && item.expires <= now.advanced(by: policy.expiry)
  }

  /// Returns the tail that remains after the mutations before a place were loaded.
  package func from(_ place: Int64) -> QueueTail {
    QueueTail(start: place, firstExpiry: firstExpiry, upstreams: upstreams)
  }
}

/// Decisions about a long queue from its first mutations alone, as if all were loaded.
extension DeviceQueue {
  /// Returns whether the held mutations do not suffice for ``schedule(at:policy:)``,
  /// ``claiming(_:boot:at:policy:)`` and ``lapses(at:using:)``: then call ``extend(by:tail:)``
  /// first. Clients' commands and reads need the whole queue.
  ///
  /// Earlier mutations determine later ones, except for a forced one, which can wait for an unloaded
  /// one before it. And if none of the first can be sent, later ones may.
  package func needsTail(at now: Timestamp, policy: QueuePolicy) -> Bool {
    guard let tail else { return false }
    return !line.forced.isEmpty || tail.firstExpiry <= now
      || scheduling(at: now, policy: policy).reachesTail
  }

  /// Returns the same for ``settling(_:as:othersSucceeded:at:using:)``: unloaded mutations may mention
  /// the ids that this one creates, or replace it if nothing was sent.
  package func needsTail(toSettle claim: MutationClaim, as outcome: SendOutcome) -> Bool {
    guard tail != nil, let item = self[claim.id] else { return false }
    if case .notSent = outcome, item.mode == .lazy, item.object != nil { return true }
    return !line.forced.isEmpty || !item.footprint.creates.isEmpty
  }

  /// The same for ``recovering(boot:at:policy:using:)``: a forced mutation supersedes ones before it.
  package var needsTailToRecover: Bool { tail != nil && !line.forced.isEmpty }

  /// Adds mutations that were loaded from the tail.
  ///
  /// - Parameters:
  ///   - held: by place, all from the tail's start to the start of `rest`; those that are held already
  ///     stay as they are.
  ///   - rest: the remaining tail; nil if there is none.
  package mutating func extend(by held: some Sequence<Mutation>, tail rest: QueueTail?) {
    for mutation in held where Self.isHeld(mutation) && self[mutation.id] == nil {
      line.insert(mutation)
    }
    tail = rest
  }
}
