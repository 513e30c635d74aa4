import Model
package import Upstream

/// The entity types by name, with their relationships and views.
package struct EntityDirectory: Sendable {
  package let descriptions: [EntityTypeDescription]
  private let shapes: [String: ObjectShape]
  private let views: [String: EntityView]

  package init(registry: OperationRegistry) {
    let catalogue = registry.catalogue
    let views = registry.views
    shapes = catalogue.shapes
    self.views = views
    descriptions = catalogue.types.map { type in
      let fields = catalogue.shapes[type.name]?.fields ?? [:]
      return EntityTypeDescription(
        type: type,
        relationships: fields.sorted { $0.key < $1.key }.compactMap { name, field in
          guard let isToMany = field.isToMany, case .object(let declared, _, _) = field.value
          else { return nil }
          return .init(name: name, type: declared, isToMany: isToMany)
        },
        views: views.values.filter { $0.selection.types[type.name] != nil }.map(\.name).sorted())
    }
  }

  func type(named name: String) throws(Failure) -> EntityType {
    if let found = descriptions.first(where: { $0.type.name == name }) { return found.type }
    throw Failure(
      .notFound,
      "There is no entity type \(name); there are "
        + descriptions.map(\.type.name).joined(separator: ", ") + ".")
  }

  /// Nil for what is no relationship of the type.
  func relationship(_ name: String, of type: String) -> ObjectShape.Field? {
    guard let field = shapes[type]?.fields[name], field.isToMany != nil else { return nil }
    return field
  }

  /// Types that a view may be of, in one selection.
  func view(named name: String) -> EntityView? { views[name] }

  func viewNames(of type: String) -> [String] {
    descriptions.first { $0.type.name == type }?.views ?? []
  }
}
