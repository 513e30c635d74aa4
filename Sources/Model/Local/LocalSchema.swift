/// The types that live in this store alone, as `local.graphql` declares them, checked.
package struct LocalSchema: Hashable, Sendable {
  /// Entities, by name.
  package let types: [String: LocalType]
  /// Types that stand inside an entity and have no identity of their own: their fields by name.
  package let objects: [String: [LocalField]]
  /// Values of each enum.
  package let enums: [String: [String]]

  package static let none = LocalSchema(types: [:], objects: [:], enums: [:])

  package init(
    types: [String: LocalType], objects: [String: [LocalField]], enums: [String: [String]]
  ) {
    self.types = types
    self.objects = objects
    self.enums = enums
  }

  package var isEmpty: Bool { types.isEmpty }

  /// All that decides which values a type's rows may hold, as one text: where it differs from the
  /// recorded one the rows must be looked at.
  package func description(of type: LocalType) -> String {
    var lines = ["\(type.scope)"] + type.fields.map(\.description)
    var open = type.fields
    var seen: Set<String> = []
    while let field = open.popLast() {
      switch field.kind {
      case .object(let name) where seen.insert(name).inserted:
        lines.append("\(name): " + (objects[name] ?? []).map(\.description).joined(separator: " "))
        open += objects[name] ?? []
      case .enumeration(let name) where seen.insert(name).inserted:
        lines.append("\(name): " + (enums[name] ?? []).joined(separator: " "))
      case .object, .enumeration, .scalar, .entity: continue
      }
    }
    return lines.joined(separator: "\n")
  }
}
