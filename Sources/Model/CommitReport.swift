/// What a commit did, told after COMMIT returned: enough to drop rendered answers and wake
/// waiters, without any data.
package struct CommitReport: Sendable {
  package struct Change: Hashable, Sendable {
    package let scope: Scope
    package let key: EntityKey

    package init(scope: Scope, key: EntityKey) {
      self.scope = scope
      self.key = key
    }
  }

  /// An entity that has come to lie under what a device's queue is expected to do, or does no more.
  package struct Overlay: Hashable, Sendable {
    package let device: String
    package let key: EntityKey
    package let isLaid: Bool

    package init(device: String, key: EntityKey, isLaid: Bool) {
      self.device = device
      self.key = key
      self.isLaid = isLaid
    }
  }

  /// The new revision, or nil where no content changed.
  package let revision: Revision?
  /// Entities whose content changed, came or went.
  package let changes: [Change]
  /// What became due for refetch, in which scopes.
  package let invalidated: [InvalidationTarget]
  /// The result's own root changed (another order, other members) or is new.
  package let resultChanged: Bool
  /// The result whose root changed.
  package let changedResult: ResultKey?
  /// The store now says exactly what the answer said: nothing was refused by the order rule, merged
  /// with older parts or hidden by another scope, so the answer itself may be rendered.
  package let isExact: Bool
  /// A purge or an invalidation has settled since the answer's call began: the store, not the
  /// answer, says whether the result is due.
  package let mayBeDue: Bool
  /// The head after this commit.
  package let head: Revision
  /// In the order in which they were laid and taken away.
  package let overlays: [Overlay]

  package init(
    revision: Revision?,
    changes: [Change],
    invalidated: [InvalidationTarget],
    resultChanged: Bool,
    changedResult: ResultKey? = nil,
    isExact: Bool,
    mayBeDue: Bool = false,
    head: Revision,
    overlays: [Overlay] = []
  ) {
    self.revision = revision
    self.changes = changes
    self.invalidated = invalidated
    self.resultChanged = resultChanged
    self.changedResult = changedResult
    self.isExact = isExact
    self.mayBeDue = mayBeDue
    self.head = head
    self.overlays = overlays
  }
}
