/// The type system of a GraphQL service.
///
/// Immutable and shared. It always holds the built-in scalars, the introspection types and the
/// built-in directives, whether or not its SDL declares them.
package final class Schema: Sendable {
  package let description: String?
  /// All types in the order of declaration; the built-in ones last.
  package let types: NamedList<NamedType>
  package let directives: NamedList<SchemaDirective>
  /// As applied to the schema definition.
  let appliedDirectives: [Directive]
  private let rootNames: [OperationType: String]
  /// The possible object types of each abstract type, in the order of `types`.
  private let possibleTypeNames: [String: [String]]
  /// For each abstract type, every object *and interface* type that is a subtype of it.
  private let subtypeNames: [String: Set<String>]

  /// Creates a schema from types and directives, and adds missing built-in ones. The result need not be
  /// valid: call `validate()`.
  package init(
    description: String? = nil, types: [NamedType], directives: [SchemaDirective],
    rootNames: [OperationType: String], appliedDirectives: [Directive] = []
  ) {
    self.description = description
    self.appliedDirectives = appliedDirectives
    self.rootNames = rootNames
    self.types = NamedList(types + BuiltIns.types(missingIn: types))
    self.directives = NamedList(directives + BuiltIns.directives(missingIn: directives))
    (possibleTypeNames, subtypeNames) = Self.subtypes(of: self.types)
  }

  private static func subtypes(
    of types: NamedList<NamedType>
  ) -> (possible: [String: [String]], all: [String: Set<String>]) {
    var possible: [String: [String]] = [:]
    var all: [String: Set<String>] = [:]
    for type in types {
      for interface in type.interfaces where all[interface, default: []].insert(type.name).inserted
      {
        if type.kind == .object { possible[interface, default: []].append(type.name) }
      }
      for member in type.members where all[type.name, default: []].insert(member).inserted {
        possible[type.name, default: []].append(member)
      }
    }
    return (possible, all)
  }
}

extension Schema {
  package func type(named name: String) -> NamedType? { types[name] }

  /// The innermost named type of a reference; nil if the schema does not have it.
  package func type(of reference: TypeReference) -> NamedType? { types[reference.name.value] }

  package func directive(named name: String) -> SchemaDirective? { directives[name] }

  /// The name of the root type of an operation; nil if the service has no such operations.
  package func rootName(for operation: OperationType) -> String? { rootNames[operation] }

  package func rootType(for operation: OperationType) -> NamedType? {
    rootNames[operation].flatMap { types[$0] }
  }

  /// The possible object types of a value of this type: the type itself if it is an object type.
  package func possibleTypes(of type: NamedType) -> [NamedType] {
    guard type.isAbstract else { return type.kind == .object ? [type] : [] }
    return (possibleTypeNames[type.name] ?? []).compactMap { types[$0] }
  }

  /// Whether `name` is a member of the union, or implements the interface, `abstractName`.
  package func isSubType(_ name: String, of abstractName: String) -> Bool {
    subtypeNames[abstractName]?.contains(name) ?? false
  }

  /// Whether every value of `type` is also one of `other` (covariance, specification 3.6).
  package func isSubType(_ type: TypeReference, of other: TypeReference) -> Bool {
    switch (type, other) {
    case (.nonNull(let type, _), .nonNull(let other, _)): isSubType(type, of: other)
    case (.nonNull(let type, _), _): isSubType(type, of: other)
    case (_, .nonNull): false
    case (.list(let type, _), .list(let other, _)): isSubType(type, of: other)
    case (.named(let name), .named(let other)):
      name == other || isSubType(name.value, of: other.value)
    case (.list, .named), (.named, .list): false
    }
  }

  /// Returns whether some object type is possible for both.
  package func typesOverlap(_ left: NamedType, _ right: NamedType) -> Bool {
    if left === right { return true }
    switch (left.isAbstract, right.isAbstract) {
    case (true, true):
      let rightNames = Set(possibleTypes(of: right).map(\.name))
      return possibleTypes(of: left).contains { rightNames.contains($0.name) }
    case (true, false): return isSubType(right.name, of: left.name)
    case (false, true): return isSubType(left.name, of: right.name)
    case (false, false): return false
    }
  }

  /// The field that a selection names, including the meta fields: `__typename` on every composite
  /// type, `__schema` and `__type` on the query root.
  package func field(named name: String, on type: NamedType) -> SchemaField? {
    if name.utf8.starts(with: "__".utf8), type.isComposite {
      if name == BuiltIns.typenameField.name { return BuiltIns.typenameField }
      if type.name == rootNames[.query] {
        if name == BuiltIns.schemaField.name { return BuiltIns.schemaField }
        if name == BuiltIns.typeField.name { return BuiltIns.typeField }
      }
    }
    return type.fields[name]
  }
}

/// A member of a type with a name.
package protocol Named {
  var name: String { get }
}

/// Members in the order of their declaration, with constant-time lookup by name. Of two members with
/// the same name the first counts.
package struct NamedList<Element: Named & Sendable>: Sendable {
  private let elements: [Element]
  private let indexByName: [String: Int]

  package init(_ elements: [Element] = []) {
    self.elements = elements
    indexByName = Dictionary(
      elements.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  package subscript(name: String) -> Element? {
    indexByName[name].map { elements[$0] }
  }

  package var names: [String] { elements.map(\.name) }
}

extension NamedList: RandomAccessCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { elements.count }
  package subscript(position: Int) -> Element { elements[position] }
}
