package import Model

/// What rules read of the change log at a time.
package struct RuleQuery: Sendable {
  /// Names of the types that rules are about.
  package let types: Set<String>
  package let since: Revision
  /// Where something changed since; nil where that is not known, so that all are looked through.
  package let scopes: Set<Scope>?
  /// Where the page before ended; nil for the first.
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

/// A place in the logs of several scopes, read one after the other.
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

/// A page of what rules read.
package struct RuleChanges: Sendable {
  package struct Change: Sendable {
    package let entity: EntityKey
    let scope: Int64
    package let revision: Revision
    /// It was in no scope before; else it changed where it was.
    package let isNew: Bool
    /// As its scope had them behind the commit.
    package let fields: [UInt8]
  }

  /// In the order of commits: of an entity there is one for each of them, as far as what it was is
  /// still known.
  package let changes: [Change]
  /// The rows that were looked at.
  package let read: [RulePlace]
  /// Where the next page begins; nil behind the last.
  package let next: RulePlace?
}

/// What a rule makes of a change, to be written once.
package struct RuleNotification: Sendable {
  package let rule: String
  package let entity: EntityKey
  /// Of all that the rule would say, and to whom.
  package let content: String
  package let isNew: Bool
  /// Nil where it is only to be remembered what there is to say.
  package let notification: NotificationArrival?

  package init(
    rule: String, entity: EntityKey, content: String, isNew: Bool,
    notification: NotificationArrival?
  ) {
    self.rule = rule
    self.entity = entity
    self.content = content
    self.isNew = isNew
    self.notification = notification
  }
}
