package import Model

/// A section of the change log as one viewer sees it, from one snapshot of the database.
package struct ChangePage: Sendable {
  package struct Entry: Sendable {
    package let key: EntityKey
    /// The last revision that changed what this viewer sees of the entity.
    package let revision: Revision
    package let state: VisibleState
  }

  /// The state of an entity for the viewer.
  package enum VisibleState: Sendable {
    /// - Parameter isNew: whether the viewer did not see it at the reading's origin.
    case present(EntityRecord, isNew: Bool)
    case gone(Reason)
  }

  package enum Reason: String, Sendable {
    case deleted
    /// A narrower scope's tombstone hides a row that a wider scope still holds.
    case hidden
  }

  /// The entries in the order of ``Entry/revision``, at most one per entity. Those that enter or leave a
  /// condition by a ``ClockStep`` are last, at the head's revision.
  package let entries: [Entry]
  /// The position at which the next page begins.
  package let next: LogPosition
  /// The origin of the reading that this page belongs to.
  package let readingOrigin: LogOrigin
  /// The origin for the next page's query: the head, once the log was read to its end.
  package var origin: LogOrigin {
    isComplete || step != nil ? .delta(base: head) : readingOrigin
  }
  /// Whether this is the last page: a reader that applied all pages up to here has the store's
  /// state at ``head``.
  package let isComplete: Bool
  package let head: Revision
  /// How far the query's ``ClockStep`` was taken; nil without one, and before the end of the log.
  package var step: ClockStep.Progress?
}
