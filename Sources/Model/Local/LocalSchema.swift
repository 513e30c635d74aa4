package import LosslessJSON

/// The checked types of `local.graphql`, whose entities exist in this store only.
package struct LocalSchema: Hashable, Sendable {
  /// Entities, by name.
  package let types: [String: LocalType]
  /// Fields of embedded types, which have no identity of their own, by type name.
  package let objects: [String: [LocalField]]
  /// Values of each enum.
  package let enums: [String: [String]]
  /// The local fields of upstream's types, by type: one part for each kind of owner.
  package let extensions: [String: [LocalType]]

  /// Interfaces that local types implement, by name.
  package let interfaces: [String: LocalInterface]

  package static let none = LocalSchema(types: [:], objects: [:], enums: [:])

  package init(
    types: [String: LocalType], objects: [String: [LocalField]], enums: [String: [String]],
    extensions: [String: [LocalType]] = [:], interfaces: [String: LocalInterface] = [:]
  ) {
    self.extensions = extensions
    self.interfaces = interfaces
    self.types = types
    self.objects = objects
    self.enums = enums
  }

  package var isEmpty: Bool { types.isEmpty && extensions.isEmpty }

  /// Returns a text of everything that determines the values a type's rows can hold: if it differs
  /// from the recorded one, the rows must be checked.
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
    if type.keyFields != [LocalType.keyField] {
      lines.append("@key \(type.keyFields.joined(separator: " "))")
    }
    lines += type.uniques.map { "@unique \($0.joined(separator: " "))" }.sorted()
    return lines.joined(separator: "\n")
  }
}

extension LocalSchema {
  /// Returns the schema with other descriptions of the same types.
  package func with(
    types: [String: LocalType], extensions: [String: [LocalType]]? = nil
  ) -> LocalSchema {
    LocalSchema(
      types: types, objects: objects, enums: enums, extensions: extensions ?? self.extensions,
      interfaces: interfaces)
  }
}

/// An interface of `local.graphql`: fields that several local types have.
package struct LocalInterface: Hashable, Sendable {
  package let name: String
  package let fields: [LocalField]
  /// The local types that implement it, in alphabetical order; at least one.
  package let types: [String]

  package init(name: String, fields: [LocalField], types: [String]) {
    self.name = name
    self.fields = fields
    self.types = types
  }
}

extension LocalSchema {
  /// Returns a stored value in the form in which clients write it, with dates in the given format.
  package func formatted(_ value: JSONValue, _ field: LocalField, dates: DateFormat) -> JSONValue {
    if let elements = value.array {
      return .array(elements.map { formatted($0, field, dates: dates) })
    }
    switch field.kind {
    case .scalar(.date):
      return value.string.map { dates.formatted($0) } ?? value
    case .object(let name):
      guard let members = value.members else { return value }
      let fields = objects[name] ?? []
      return .object(
        members.map { member in
          guard let field = fields.first(where: { $0.name == member.name }) else { return member }
          return JSONMember(member.name, formatted(member.value, field, dates: dates))
        })
    case .scalar, .enumeration, .entity:
      return value
    }
  }
}
