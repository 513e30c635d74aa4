/// How what a mutation wrote stands to what others wrote while it was under way.
///
/// Upstream executed it at some moment between its start and its end, so nothing tells its order
/// among the calls that overlap it. Of two overlapping mutations of one object the one that began
/// later counts as the later one; where the response of the earlier arrives last, what the other
/// wrote stays. Either way the object is due for a refetch.
package struct MutationSpan: Sendable {
  /// Taken before the request left: what an overtaken response says counts as of then.
  package let start: CallNumber
  /// The store's head at that moment: what changed behind it changed while the mutation was under
  /// way.
  package let head: Revision
  /// The request may have reached upstream before ``start``, so the response may be that of the first
  /// time: everything stored since the first attempt counts as later.
  package let isRepeated: Bool
  /// Entities that another mutation wrote, which began later and settled earlier.
  package let overtaken: Set<EntityKey>
  /// All entities that another, overlapping mutation wrote.
  package let disputed: Set<EntityKey>

  package init(
    start: CallNumber, head: Revision, isRepeated: Bool = false, overtaken: Set<EntityKey> = [],
    disputed: Set<EntityKey> = []
  ) {
    self.start = start
    self.head = head
    self.isRepeated = isRepeated
    self.overtaken = overtaken
    self.disputed = disputed
  }
}
