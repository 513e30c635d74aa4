package import Model

/// A fragment on an entity type, offered as a view of it.
package struct EntityView: Sendable {
  /// The fragment's name.
  package let name: String
  /// The type condition: an entity type, or an abstract type that entities belong to.
  package let typeCondition: String
  /// The fragment's fields for each concrete type.
  package let selection: Model.Selection
}
