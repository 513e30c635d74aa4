package import Model

/// What became of one mutation handed over.
package struct MutationReceipt: Hashable, Sendable {
  /// As it stands now.
  package let mutation: Mutation
  /// Its key was known: nothing was stored.
  package let isReplay: Bool
  package let supersedes: MutationID?
  /// What goes ahead with a forced one because it meets it, in order.
  package var promoted: [MutationID] = []
}
