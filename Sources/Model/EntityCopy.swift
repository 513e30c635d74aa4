/// One stored row of an entity, for operators: the copy of one scope.
package struct EntityCopy: Sendable {
  /// A stored field with the operation that fetched it.
  package struct Field: Sendable {
    /// The storage name, with the arguments of the selection.
    package let name: String
    /// As JSON, in the form of ``StoredForm``.
    package let value: [UInt8]
    /// The operation whose stored result is of the call that wrote the field; nil if there is none.
    package let operation: String?

    package init(name: String, value: [UInt8], operation: String?) {
      self.name = name
      self.value = value
      self.operation = operation
    }
  }

  package let scope: Scope
  package let received: Timestamp
  package let revision: Revision
  /// Whether an invalidation after the call that wrote it demands another one.
  package let isDue: Bool
  /// Empty for a tombstone.
  package let fields: [Field]

  package init(
    scope: Scope, received: Timestamp, revision: Revision, isDue: Bool, fields: [Field]
  ) {
    self.scope = scope
    self.received = received
    self.revision = revision
    self.isDue = isDue
    self.fields = fields
  }
}

/// What is known of the earlier states of an entity, for operators.
package struct EntityHistory: Sendable {
  /// A state of the copy in one scope.
  package struct State: Sendable {
    package let scope: Scope
    /// The revision that wrote it.
    package let since: Revision
    /// The revision that replaced it.
    package let until: Revision
    /// Nil if it is not known: the copy was stored again after it had been removed.
    package let fields: [EntityCopy.Field]?

    package init(
      scope: Scope, since: Revision, until: Revision, fields: [EntityCopy.Field]?
    ) {
      self.scope = scope
      self.since = since
      self.until = until
      self.fields = fields
    }
  }

  /// The revision from which states are recorded; nil if none of the type's are, because no observer with
  /// a condition has asked for them.
  package let recordedSince: Revision?
  /// The newest first.
  package let states: [State]

  package init(recordedSince: Revision?, states: [State]) {
    self.recordedSince = recordedSince
    self.states = states
  }
}
