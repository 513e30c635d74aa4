/// The effects of a commit, reported after COMMIT returned: enough to drop rendered responses and
/// wake waiters, without any data.
package struct CommitReport: Sendable {
  package struct Change: Hashable, Sendable {
    package let scope: Scope
    package let key: EntityKey

    package init(scope: Scope, key: EntityKey) {
      self.scope = scope
      self.key = key
    }
  }

  /// An optimistic update of an entity that a device's queue added or removed.
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

  /// The new revision; nil if no content changed.
  package let revision: Revision?
  /// Entities that were added, changed or removed.
  package let changes: [Change]
  /// Targets that became due for a refetch.
  package let invalidated: [InvalidationTarget]
  /// Whether the result's own root changed (another order, other members) or is new.
  package let resultChanged: Bool
  /// The result whose root changed.
  package let changedResult: ResultKey?
  /// Whether the store now holds exactly the upstream response: nothing was refused by the order rule,
  /// merged with older parts or hidden by another scope, so the response itself can be rendered.
  package let isExact: Bool
  /// Whether a purge or an invalidation settled since the call began: the store, not the response,
  /// then decides whether the result is due.
  package let mayBeDue: Bool
  /// The store's head after this commit.
  package let head: Revision
  /// In the order in which they were added and removed.
  package let overlays: [Overlay]
  /// Events for hooks that the commit added to the outbox, and those that no longer fit into it.
  package let hookEvents: HookEventCounts

  package init(
    revision: Revision?,
    changes: [Change],
    invalidated: [InvalidationTarget],
    resultChanged: Bool,
    changedResult: ResultKey? = nil,
    isExact: Bool,
    mayBeDue: Bool = false,
    head: Revision,
    overlays: [Overlay] = [],
    hookEvents: HookEventCounts = HookEventCounts()
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
    self.hookEvents = hookEvents
  }
}

extension CommitReport {
  /// Creates the report of several commands that were committed together.
  package init(joining reports: [CommitReport], head: Revision) {
    var seen: Set<Change> = []
    var known: Set<InvalidationTarget> = []
    self.init(
      revision: reports.reversed().lazy.compactMap(\.revision).first,
      changes: reports.flatMap(\.changes).filter { seen.insert($0).inserted },
      invalidated: reports.flatMap(\.invalidated).filter { known.insert($0).inserted },
      resultChanged: reports.contains(where: \.resultChanged),
      changedResult: reports.count == 1 ? reports.first?.changedResult : nil,
      isExact: reports.allSatisfy(\.isExact),
      mayBeDue: reports.contains(where: \.mayBeDue),
      head: head,
      overlays: reports.flatMap(\.overlays),
      hookEvents: reports.reduce(into: HookEventCounts()) { $0.add($1.hookEvents) })
  }
}

/// A target of an invalidation: by a mutation's `@effects`, a purge or an operator.
package enum InvalidationTarget: Hashable, Sendable {
  case entity(EntityKey)
  /// Every entity of the type, and every result that holds one or a (possibly empty) list of them.
  case type(String)
  /// Every result of the operation.
  case operation(String)
  /// Every result of the operations that carry the tag.
  case tag(String)
}
