/// What a decision changes, for the store to write in one transaction.
///
/// Each mutation is told whole, as it is to be afterwards. The store writes the rows, drops overlay
/// and credential of those whose state is finished, logs the outcome for the client, and then hands
/// the same value to ``DeviceQueue/apply(_:)``.
package struct QueueChanges: Hashable, Sendable {
  package var inserted: [Mutation]
  package var updated: [Mutation]
  /// What holds the queue from now on; nil leaves it.
  package var control: QueueControl?
  /// Temporary ids that became known, to be kept for later arrivals and reads.
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

  /// Adds what was decided after these were applied: of a mutation told twice the later word stays.
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
