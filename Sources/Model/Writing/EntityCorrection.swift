package import LosslessJSON

/// One write to an entity that upstream gives, at an operator's word.
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

  /// Updates and insertions write the fields they name and leave the others: what upstream was
  /// never asked for is no part of an entity that could be replaced.
  package let action: WriteAction
  package let type: EntityType
  package let target: WriteTarget
  package let fields: [Field]
  /// Judges the stored entity (nil where there is none) in the write's own snapshot; false refuses
  /// the write.
  package let precondition: (@Sendable (EntityRecord?) -> Bool)?
  /// Where it stands in the request, as a JSON pointer.
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
