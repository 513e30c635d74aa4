package import Model

/// The result of enqueuing a mutation.
package struct EnqueueDecision: Hashable, Sendable {
  package let changes: QueueChanges
  /// The new mutation as stored: queued, or annihilated at once.
  package let mutation: Mutation
  /// The mutation that it replaced, if any.
  package let supersedes: MutationID?

  package init(changes: QueueChanges, mutation: Mutation, supersedes: MutationID? = nil) {
    self.changes = changes
    self.mutation = mutation
    self.supersedes = supersedes
  }
}

/// Why a mutation is not enqueued; nothing is stored.
package enum EnqueueRefusal: Error, Hashable, Sendable {
  /// A queued mutation deletes its object: 409 `object_deleted`.
  case objectDeleted(by: MutationID)
  /// The device has too many unfinished mutations: 429.
  case queueFull(itemsMax: Int)
}
