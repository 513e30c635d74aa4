/// A stored result and every entity its selection reaches, read in one transaction.
package struct ResultSnapshot: Sendable {
  package let key: ResultKey
  package let call: CallNumber
  package let received: Timestamp
  /// The root fields as one JSON object by storage name, in the form of ``StoredForm``.
  package let root: [UInt8]
  package let errors: [UInt8]?
  /// Whether an invalidation, a purge or an errored field requires a refetch before the next
  /// response.
  package let isDue: Bool
  /// By key, for all references the selection follows. An entity that is missing here is deleted,
  /// hidden or was never stored.
  package let entities: [EntityKey: EntityRecord]
  /// The revision of the database at the time of reading.
  package let revision: Revision

  package init(
    key: ResultKey,
    call: CallNumber,
    received: Timestamp,
    root: [UInt8],
    errors: [UInt8]?,
    isDue: Bool,
    entities: [EntityKey: EntityRecord],
    revision: Revision
  ) {
    self.key = key
    self.call = call
    self.received = received
    self.root = root
    self.errors = errors
    self.isDue = isDue
    self.entities = entities
    self.revision = revision
  }
}

/// An entity as one viewer sees it.
package struct EntityRecord: Sendable {
  /// The `fields` objects of the scopes that have a row, narrowest first. A field is read from the
  /// first that has it.
  package let layers: [[UInt8]]
  /// Whether it is deleted for this viewer: references to it are dropped from lists.
  package let isDeleted: Bool
  /// Whether upstream has deleted it, and it is shown for the viewer's local fields.
  package let isKept: Bool
  /// When the oldest of its rows was written; nil if the reader did not ask for it.
  package let received: Timestamp?

  package init(
    layers: [[UInt8]], isDeleted: Bool = false, isKept: Bool = false, received: Timestamp? = nil
  ) {
    self.isKept = isKept
    self.layers = layers
    self.isDeleted = isDeleted
    self.received = received
  }
}

/// The identity of a stored result.
package struct ResultKey: Hashable, Sendable {
  package let operation: String
  /// The coerced variables as canonical JSON: defaults applied, keys sorted.
  package let variables: String
  package let scope: Scope

  package init(operation: String, variables: String, scope: Scope) {
    self.operation = operation
    self.variables = variables
    self.scope = scope
  }

  /// Compares bytes: upstream treats canonically equivalent texts as different.
  package static func == (left: ResultKey, right: ResultKey) -> Bool {
    left.variables.equalsExactly(right.variables) && left.operation.equalsExactly(right.operation)
      && left.scope == right.scope
  }

  package func hash(into hasher: inout Hasher) {
    operation.hashExactly(into: &hasher)
    variables.hashExactly(into: &hasher)
    hasher.combine(scope)
  }
}
