package import LosslessJSON

/// One write to entities of a local type; a list of them is done whole or not at all.
package struct LocalOperation: Sendable {
  package enum Action: String, Sendable, CaseIterable {
    /// A new entity; refused where there is one.
    case insert
    /// The whole entity anew, whether there is one or not. Lists of entities that the body does not
    /// name stay as they are.
    case insertOrUpdate
    /// A merge patch (RFC 7396); refused where there is none.
    case update
    /// A merge patch, or the same as a new entity where there is none.
    case updateOrInsert
    /// Refused where there is none.
    case delete
  }

  package enum Target: Sendable {
    case key(String)
    /// Every entity that it holds of, perhaps none. Only for updates and deletions.
    case filter(Filter)
  }

  package let action: Action
  package let type: LocalType
  package let target: Target
  package let body: LocalBody
  /// Judges the stored entity (nil where there is none) in the write's own snapshot; false refuses
  /// the write.
  package let precondition: (@Sendable (EntityRecord?) -> Bool)?
  /// Where the operation stands in the request, as a JSON pointer.
  package let pointer: String

  package init(
    _ action: Action, _ type: LocalType, _ target: Target, body: LocalBody = LocalBody(),
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
  /// In stored form, by field.
  package var fields: [String: JSONValue] = [:]
  /// Merge patches of embedded objects: to be applied to what is stored, then checked.
  package var patches: [String: JSONValue] = [:]
  /// The id that the body gives.
  package var id: String?

  package init() {}
}
