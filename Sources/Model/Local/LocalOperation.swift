package import LosslessJSON

/// One write to entities of a local type; a list of them is done whole or not at all.
package struct LocalOperation: Sendable {
  package let action: WriteAction
  package let type: LocalType
  package let target: WriteTarget
  package let body: LocalBody
  /// Judges the stored entity (nil where there is none) in the write's own snapshot; false refuses
  /// the write.
  package let precondition: (@Sendable (EntityRecord?) -> Bool)?
  /// Where the operation stands in the request, as a JSON pointer.
  package let pointer: String

  package init(
    _ action: WriteAction, _ type: LocalType, _ target: WriteTarget, body: LocalBody = LocalBody(),
    precondition: (@Sendable (EntityRecord?) -> Bool)? = nil, pointer: String = ""
  ) {
    self.action = action
    self.type = type
    self.target = target
    self.body = body
    self.precondition = precondition
    self.pointer = pointer
  }
}

/// A body as far as it can be judged without the stored entity.
package struct LocalBody: Sendable {
  /// Fields that the body names, also those whose value is faulty.
  package var named: Set<String> = []
  /// In stored form, by field.
  package var fields: [String: JSONValue] = [:]
  /// Merge patches of embedded objects: to be applied to what is stored, then checked.
  package var patches: [String: JSONValue] = [:]
  /// The id that the body gives.
  package var id: String?

  package init() {}
}
