package import Model

/// The types and relationships that filters and orders can name beyond a type's own columns.
package struct EntityGraph: Sendable {
  package enum Relationship: Hashable, Sendable {
    case toOne(String)
    /// A list of references in the owner's row.
    case toMany(String)
    /// All entities of a type whose field holds the owner's key.
    case linked(type: String, field: String)
    /// To a union or an interface, with the types of its entities.
    case toOneOf([String])
    /// A list of references to entities of a union or an interface, with their types.
    case toManyOf([String])
    /// A to-one relationship with arguments, of which an entity can have several.
    case withArguments
  }

  private let types: [String: EntityType]
  /// By type and field.
  private let relationships: [String: [String: Relationship]]

  package init(types: [EntityType], relationships: [String: [String: Relationship]]) {
    self.types = Dictionary(types.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    self.relationships = relationships
  }

  /// A graph without relationships: only a type's own columns can be named.
  package static let none = EntityGraph(types: [], relationships: [:])

  package func type(named name: String) -> EntityType? { types[name] }

  package func relationship(_ field: String, of type: String) -> Relationship? {
    relationships[type]?[field]
  }

  /// Returns the paths that names stand for, from a type to a column: one, or through unions and interfaces
  /// one for each type that has the column.
  package func columns(
    _ names: [String], of type: EntityType
  ) throws(EntityOrderFaults) -> [(path: EntityPath, column: EntityType.Column)] {
    var columns: [(path: EntityPath, column: EntityType.Column)] = []
    do throws(PathResolver.Fault) {
      for found in try PathResolver(graph: self).resolve(names, from: type) {
        guard case .column(let path, let column) = found else {
          throw PathResolver.Fault(
            message: "\(names.joined(separator: ".")) leads to many entities")
        }
        columns.append((path, column))
      }
    } catch {
      throw EntityOrderFaults(messages: [error.message])
    }
    return columns
  }

  func names(ofRelationshipsOf type: String) -> [String] {
    relationships[type].map { $0.keys.sorted() } ?? []
  }
}
