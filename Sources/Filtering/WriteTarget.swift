package import LosslessJSON
package import Model

/// The entities of a type that a write applies to.
package enum WriteTarget: Sendable {
  case key(String)
  /// Every entity that matches, possibly none. Only for updates and deletions.
  case filter(Filter)
}

/// One write to entities of a local type, or to local fields of upstream's entities; a list of them is
/// applied atomically.
package struct LocalOperation: Sendable {
  package let action: WriteAction
  package let type: LocalType
  private let selected: EntityType?
  package let target: WriteTarget
  package let body: LocalBody
  /// Checks the stored entity (nil if there is none) in the write's own snapshot; false refuses the
  /// write.
  package let precondition: (@Sendable (EntityRecord?) -> Bool)?
  /// The place of the operation in the request, as a JSON pointer.
  package let pointer: String

  /// - Parameter filtered: see ``filtered``; nil for `type` itself.
  package init(
    _ action: WriteAction, _ type: LocalType, _ target: WriteTarget, filtered: EntityType? = nil,
    body: LocalBody = LocalBody(), precondition: (@Sendable (EntityRecord?) -> Bool)? = nil,
    pointer: String = ""
  ) {
    self.action = action
    self.type = type
    selected = filtered
    self.target = target
    self.body = body
    self.precondition = precondition
    self.pointer = pointer
  }

  /// The type that a filter is about: of local fields the whole upstream type, whose entities are those that
  /// the writer sees.
  package var filtered: EntityType { selected ?? type.entityType }
}

/// An operator's write to an entity of upstream's.
package struct EntityCorrection: Sendable {
  package struct Field: Sendable {
    package let name: String
    /// In the form of ``StoredForm``.
    package let value: JSONValue

    package init(name: String, value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// Updates and insertions write the fields they name and leave the others: fields that were never
  /// fetched from upstream are no part of an entity that could be replaced.
  package let action: WriteAction
  package let type: EntityType
  package let target: WriteTarget
  package let fields: [Field]
  /// Checks the stored entity (nil if there is none) in the write's own snapshot; false refuses the
  /// write.
  package let precondition: (@Sendable (EntityRecord?) -> Bool)?
  /// Its place in the request, as a JSON pointer.
  package let pointer: String

  package init(
    _ action: WriteAction, _ type: EntityType, _ target: WriteTarget,
    fields: [Field] = [], precondition: (@Sendable (EntityRecord?) -> Bool)? = nil,
    pointer: String = ""
  ) {
    self.action = action
    self.type = type
    self.target = target
    self.fields = fields
    self.precondition = precondition
    self.pointer = pointer
  }
}
