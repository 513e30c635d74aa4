package import Model

/// A query of push rules for a page of the change log.
package struct RuleQuery: Sendable {
  /// Names of the types that rules observe.
  package let types: Set<String>
  package let since: Revision
  /// The scopes changed since; nil if unknown, so that all scopes are read.
  package let scopes: Set<Scope>?
  /// The end of the previous page; nil for the first page.
  package let place: RulePlace?

  package init(
    types: Set<String>, since: Revision, scopes: Set<Scope>?, place: RulePlace? = nil
  ) {
    self.types = types
    self.since = since
    self.scopes = scopes
    self.place = place
  }
}

/// A position in the change logs of several scopes, which are read one after the other.
package struct RulePlace: Hashable, Sendable {
  let scope: Int64
  let revision: Int64
  let type: Int64
  let key: String

  init(_ row: ChangeRow, in scope: Int64) {
    self.scope = scope
    revision = row.revision
    type = row.type
    key = row.key
  }
}

/// A page of changes for push rules.
package struct RuleChanges: Sendable {
  package struct Change: Sendable {
    package let entity: EntityKey
    let scope: Int64
    package let revision: Revision
    /// Whether the entity was in no scope before; otherwise it changed.
    package let isNew: Bool
    /// Field values in this scope after the commit.
    package let fields: [UInt8]
  }

  /// The changes in commit order: one for each commit of an entity, as far as its history is still stored.
  package let changes: [Change]
  /// The rows that were read.
  package let read: [RulePlace]
  /// The start of the next page; nil after the last page.
  package let next: RulePlace?
}

/// The notification of a push rule for a change, to be written once.
package struct RuleNotification: Sendable {
  package let rule: String
  package let entity: EntityKey
  /// The canonical text of the message and its recipients.
  package let content: String
  package let isNew: Bool
  /// Nil if only the content is to be recorded.
  package let notification: NewNotification?

  package init(
    rule: String, entity: EntityKey, content: String, isNew: Bool,
    notification: NewNotification?
  ) {
    self.rule = rule
    self.entity = entity
    self.content = content
    self.isNew = isNew
    self.notification = notification
  }
}
