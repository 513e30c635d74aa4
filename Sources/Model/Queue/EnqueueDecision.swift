/// What becomes of an arriving mutation.
package struct EnqueueDecision: Hashable, Sendable {
  package let changes: QueueChanges
  /// The arriving one as it is stored: queued, or annihilated at once.
  package let mutation: Mutation
  /// Which one it replaced, if any.
  package let supersedes: MutationID?

  package init(changes: QueueChanges, mutation: Mutation, supersedes: MutationID? = nil) {
    self.changes = changes
    self.mutation = mutation
    self.supersedes = supersedes
  }
}
