package import Model

/// A stretch of the change log as one viewer sees it, out of one snapshot of the database.
package struct ChangePage: Sendable {
  package struct Entry: Sendable {
    package let key: EntityKey
    /// The last revision that changed what this viewer sees of the entity.
    package let revision: Revision
    package let sight: VisibleState

    package init(key: EntityKey, revision: Revision, sight: VisibleState) {
      self.key = key
      self.revision = revision
      self.sight = sight
    }
  }

  /// What the viewer sees of an entity.
  package enum VisibleState: Sendable {
    /// - Parameter isNew: it was not there for this viewer at the reading's origin.
    case present(EntityRecord, isNew: Bool)
    case gone(Reason)
  }

  package enum Reason: String, Sendable {
    case deleted
    /// A narrower scope's deletion lies over what a wider one still holds.
    case hidden
  }

  /// In the order of ``Entry/revision``; an entity is here once.
  package let entries: [Entry]
  /// Where the next page begins.
  package let next: LogPosition
  /// Where the reading that this page belongs to set out.
  package let readingOrigin: LogOrigin
  /// That of the next page's query: the head, once nothing lies behind this page.
  package var origin: LogOrigin { isComplete ? .delta(base: head) : readingOrigin }
  /// Nothing lies behind this page: whoever applied all pages up to here has the store's state at
  /// ``head``.
  package let isComplete: Bool
  package let head: Revision

  package init(
    entries: [Entry], next: LogPosition, readingOrigin: LogOrigin, isComplete: Bool,
    head: Revision
  ) {
    self.entries = entries
    self.next = next
    self.readingOrigin = readingOrigin
    self.isComplete = isComplete
    self.head = head
  }
}
