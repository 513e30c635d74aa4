/// The position of an upstream call, a purge or an invalidation in the total order that decides
/// which of two values stays.
///
/// A query takes its number when it starts. A mutation, a purge and an invalidation take theirs
/// when they settle, so that calls that began before them cannot restore what they replaced. The
/// numbers grow for the life of the database, across restarts, and never come from a clock.
package struct CallNumber: Hashable, Comparable, Sendable {
  package let value: Int64

  package init(_ value: Int64) {
    self.value = value
  }

  package static func < (left: CallNumber, right: CallNumber) -> Bool { left.value < right.value }

  /// A number before that of every call.
  package static let none = CallNumber(0)
}

/// The number of a commit that changed content. A single writer assigns them, so their order is that
/// of commits and of visibility.
package struct Revision: Hashable, Comparable, Sendable {
  package let value: Int64

  package init(_ value: Int64) {
    self.value = value
  }

  package static func < (left: Revision, right: Revision) -> Bool { left.value < right.value }

  /// The revision of an empty database.
  package static let zero = Revision(0)
}

/// The calls that a mutation overlapped, which decide how its writes rank against theirs.
///
/// Upstream executed it at some moment between its start and its end, so its order among the calls
/// that overlap it is unknown. Of two overlapping mutations of one object the one that began later
/// counts as the later one; if the response of the earlier arrives last, the other's write stays.
/// Either way the object is due for a refetch.
package struct MutationSpan: Sendable {
  /// Taken before the request was sent: an overtaken response counts as of this call.
  package let start: CallNumber
  /// The store's head at that moment: later revisions came while the mutation was in flight.
  package let head: Revision
  /// Whether the request may have reached upstream before ``start``. The response may then be that of
  /// the first attempt: everything stored since that attempt counts as later.
  package let isRepeated: Bool
  /// Entities written by another mutation that began later and settled earlier.
  package let overtaken: Set<EntityKey>
  /// All entities written by another, overlapping mutation.
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
