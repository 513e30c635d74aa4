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
  /// The store now says exactly what the answer said: nothing was refused by the order rule, merged
  /// with older parts or hidden by another scope, so the answer itself may be rendered.
  package let isExact: Bool
  /// The head after this commit.
  package let head: Revision
  /// In the order in which they were laid and taken away.
  package let overlays: [Overlay]

  package init(
    revision: Revision?,
    changes: [Change],
    invalidated: [InvalidationTarget],
    resultChanged: Bool,
    isExact: Bool,
    head: Revision,
    overlays: [Overlay] = []
  ) {
    self.revision = revision
    self.changes = changes
    self.invalidated = invalidated
    self.resultChanged = resultChanged
    self.isExact = isExact
    self.head = head
    self.overlays = overlays
  }
}
