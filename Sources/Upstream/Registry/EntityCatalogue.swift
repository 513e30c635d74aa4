package import Model

/// The entity types the operations can reach, as the store needs them.
package struct EntityCatalogue: Sendable {
  /// By name, in alphabetical order.
  package let types: [EntityType]
  /// Object types by name for each abstract type of the schema that stands for an entity.
  package let possibleTypes: [String: [String]]

  /// What is selected on each object type, embedded ones included.
  package let shapes: [String: ObjectShape]

  package func type(named name: String) -> EntityType? { types.first { $0.name == name } }
}
