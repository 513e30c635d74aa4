/// The unfinished mutations of one device, and every decision about them.
///
/// A value without clock, chance or I/O: the store loads it from its rows (or keeps it beside them),
/// asks for a decision, writes the ``QueueChanges`` in one transaction and applies the same changes
/// here. Where the transaction fails, this value is dropped and loaded again.
///
/// Held are items that are queued, in flight or parked, and expired ones that create temporary ids,
/// since others may still wait for these.
package struct DeviceQueue: Sendable {
  package let device: String
  package internal(set) var control: QueueControl
  /// Everything held, by place; the index over it is kept by ``apply(_:)`` and
  /// ``extend(by:tail:)`` alone.
  var line: QueueLine
  /// What is left in the store until it is needed; nil where all is here.
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

  /// Whether a row belongs in the queue's working value: what the store loads.
  package static func isHeld(_ mutation: Mutation) -> Bool {
    !mutation.state.isFinished
      || (mutation.state == .expired && !mutation.footprint.creates.isEmpty)
  }

  /// Takes over what was committed.
  package mutating func apply(_ changes: QueueChanges) {
    for mutation in changes.updated { line.remove(mutation.id) }
    for mutation in changes.updated + changes.inserted where Self.isHeld(mutation) {
      line.insert(mutation)
    }
    if let control = changes.control { self.control = control }
  }
}

extension DeviceQueue {
  /// In the order of sending, those in the tail aside, as in all that follows.
  package var held: [Mutation] { line.all }

  package var heldCount: Int { line.count }

  /// About what the held items take in memory, in kilobytes.
  package var kilobytes: Int { line.kilobytes }

  package subscript(id: MutationID) -> Mutation? { line[id] }

  /// Those that go by themselves, waiting or in flight.
  package var pendingCount: Int { line.count(of: .queued) + line.count(of: .inflight) }
  package var parkedCount: Int { line.count(of: .parked) }
  package var isEmpty: Bool { line.isEmpty }
}
