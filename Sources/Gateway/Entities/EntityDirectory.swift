package import Model
package import Upstream

/// The entity types by name, upstream's and those that live here alone, with their relationships and
/// views.
package struct EntityDirectory: Sendable {
  package let descriptions: [EntityTypeDescription]
  private let types: [String: EntityType]
  private let shapes: [String: ObjectShape]
  private let views: [String: EntityView]
  /// Concrete entity types by union or interface.
  private let possibleTypes: [String: [String]]
  private let local: [String: LocalType]

  /// - Parameter registry: with the local types in its catalogue.
  package init(registry: OperationRegistry, local: LocalSchema) {
    let catalogue = registry.catalogue
    let views = registry.views
    self.views = views
    self.local = local.types
    shapes = catalogue.shapes
    possibleTypes = catalogue.possibleTypes
    types = Dictionary(
      catalogue.types.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    descriptions = catalogue.types.map { type in
      let fields = catalogue.shapes[type.name]?.fields ?? [:]
      return EntityTypeDescription(
        type: type,
        relationships: fields.sorted { $0.key < $1.key }.compactMap { name, field in
          guard let isToMany = field.isToMany, case .object(let declared, _, _) = field.value
          else { return nil }
          return .init(name: name, type: declared, isToMany: isToMany)
        },
        views: views.values.filter { $0.selection.types[type.name] != nil }.map(\.name).sorted(),
        isLocal: local.types[type.name] != nil)
    }
  }

  func type(named name: String) throws(Failure) -> EntityType {
    if let found = types[name] { return found }
    throw Failure(
      .notFound,
      "There is no entity type \(name); there are "
        + descriptions.map(\.type.name).joined(separator: ", ") + ".")
  }

  /// Nil for upstream's types.
  func localType(named name: String) -> LocalType? { local[name] }

  /// Nil for what is no relationship of the type.
  func relationship(_ name: String, of type: String) -> ObjectShape.Field? {
    guard let field = shapes[type]?.fields[name], field.isToMany != nil else { return nil }
    return field
  }

  /// What a list of a relationship's declared type is a collection of; nil for a type that no
  /// operation reaches.
  func subject(declared name: String, members: [EntityKey], owner: String) -> CollectionRequest
    .Subject?
  {
    if let type = types[name] {
      return CollectionRequest.Subject(type, members: members.map(\.key), owner: owner)
    }
    let concrete = (possibleTypes[name] ?? []).compactMap { types[$0] }
    guard let first = concrete.first else { return nil }
    let common = first.columns.filter { column in
      concrete.allSatisfy { $0.columns.contains(column) }
    }
    return CollectionRequest.Subject(
      common: EntityType(name: name, keyFields: [], columns: common),
      shown: concrete.map(\.name), owner: owner)
  }

  /// Types that a view may be of, in one selection.
  func view(named name: String) -> EntityView? { views[name] }

  /// Views that show each of the types.
  func viewNames(of types: [String]) -> [String] {
    views.values.filter { view in types.allSatisfy { view.selection.types[$0] != nil } }
      .map(\.name).sorted()
  }
}
