package import Model

/// The unfinished mutations of one device, and every decision about them.
///
/// A value without clock, randomness or I/O: the store loads it from its rows (or caches it), asks for
/// a decision, writes the ``QueueChanges`` in one transaction and applies the same changes here. If
/// the transaction fails, this value is dropped and loaded again.
///
/// It holds mutations that are queued, in flight or parked, and expired ones that create temporary
/// ids, since others may still wait for these.
package struct DeviceQueue: Sendable {
  package let device: String
  package internal(set) var control: QueueControl
  /// The held mutations, indexed; changed only by ``apply(_:)`` and ``extend(by:tail:)``.
  var line: QueueLine
  /// The part that stays in the store until it is needed; nil if all mutations are held.
  package internal(set) var tail: QueueTail?

  package init(
    device: String, control: QueueControl = QueueControl(), held: some Sequence<Mutation> = [],
    tail: QueueTail? = nil
  ) {
    self.device = device
    self.control = control
    self.tail = tail
    line = QueueLine()
    for mutation in held where Self.isHeld(mutation) { line.insert(mutation) }
  }

  /// Returns whether the queue holds a mutation, so that the store must load its row.
  package static func isHeld(_ mutation: Mutation) -> Bool {
    !mutation.state.isFinished
      || (mutation.state == .expired && !mutation.footprint.creates.isEmpty)
  }

  /// Applies changes that were committed.
  package mutating func apply(_ changes: QueueChanges) {
    for mutation in changes.updated { line.remove(mutation.id) }
    for mutation in changes.updated + changes.inserted where Self.isHeld(mutation) {
      line.insert(mutation)
    }
    if let control = changes.control { self.control = control }
  }
}

extension DeviceQueue {
  /// In the order of sending; without the tail, as all of the following.
  package var held: [Mutation] { line.all }

  package var heldCount: Int { line.count }

  /// About what the held items take in memory, in kilobytes.
  package var kilobytes: Int { line.kilobytes }

  package subscript(id: MutationID) -> Mutation? { line[id] }

  /// Those that go by themselves, waiting or in flight.
  var pendingCount: Int { line.count(of: .queued) + line.count(of: .inflight) }
  var parkedCount: Int { line.count(of: .parked) }
  package var isEmpty: Bool { line.isEmpty }
}

/// The changes of a decision, which the store writes in one transaction.
///
/// Each mutation is complete, in its new state. The store writes the rows, drops overlay and
/// credential of finished ones, logs the outcome for the client, and then passes the same value to
/// ``DeviceQueue/apply(_:)``.
package struct QueueChanges: Hashable, Sendable {
  package var inserted: [Mutation]
  package var updated: [Mutation]
  /// The new control state of the queue; nil leaves it unchanged.
  package var control: QueueControl?
  /// Temporary ids that were resolved, to be stored for later mutations and reads.
  package var resolved: [TemporaryID: EntityKey]

  package init(
    inserted: [Mutation] = [], updated: [Mutation] = [], control: QueueControl? = nil,
    resolved: [TemporaryID: EntityKey] = [:]
  ) {
    self.inserted = inserted
    self.updated = updated
    self.control = control
    self.resolved = resolved
  }

  package var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && control == nil && resolved.isEmpty
  }

  /// Adds changes that were decided after these were applied; for the same mutation the later one
  /// counts.
  package mutating func merge(_ later: QueueChanges) {
    for mutation in later.inserted { inserted.append(mutation) }
    for mutation in later.updated {
      if let index = inserted.firstIndex(where: { $0.id == mutation.id }) {
        inserted[index] = mutation
      } else if let index = updated.firstIndex(where: { $0.id == mutation.id }) {
        updated[index] = mutation
      } else {
        updated.append(mutation)
      }
    }
    control = later.control ?? control
    resolved.merge(later.resolved) { _, new in new }
  }
}
