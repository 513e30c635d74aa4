/// A stored result and every entity its selection reaches, read in one transaction.
package struct ResultSnapshot: Sendable {
  package let key: ResultKey
  package let call: CallNumber
  package let received: Timestamp
  /// The root fields as one JSON object by storage name, in the form of ``StoredForm``.
  package let root: [UInt8]
  package let errors: [UInt8]?
  /// An invalidation, a purge or an errored field asks for a refetch before the next answer.
  package let isDue: Bool
  /// By key, for all references the selection follows. One that is not here is deleted, hidden or
  /// was never stored.
  package let entities: [EntityKey: EntityRecord]
  /// Of the database at the time of reading.
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
  /// The `fields` objects of the scopes that hold something, narrowest first. A field is read from
  /// the first that has it.
  package let layers: [[UInt8]]
  /// Gone for this viewer: references to it are dropped from lists.
  package let isDeleted: Bool
  /// When the oldest of its rows was written; nil where whoever made the record did not ask.
  package let received: Timestamp?

  package init(layers: [[UInt8]], isDeleted: Bool = false, received: Timestamp? = nil) {
    self.layers = layers
    self.isDeleted = isDeleted
    self.received = received
  }
}
