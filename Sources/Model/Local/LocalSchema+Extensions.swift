extension LocalSchema {
  /// Returns the name of the part of an upstream type's local fields that one kind of owner has, such as
  /// `Film@device`. No GraphQL name has this form.
  package static func partName(of type: String, owner: Scope.Kind) -> String {
    "\(type)@\(owner)"
  }

  /// The parts of all upstream types' local fields, by their names.
  package var parts: [String: LocalType] {
    Dictionary(
      extensions.values.joined().map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the type of a row by its name: a local type, or a part of an upstream type.
  package func rowType(named name: String) -> LocalType? {
    if let type = types[name] { return type }
    guard let end = name.firstIndex(of: "@") else { return nil }
    return extensions[String(name[..<end])]?.first { $0.name == name }
  }

  /// Returns the part of an upstream type's local fields that an owner of a kind has; nil for none.
  package func part(of type: String, owner: Scope.Kind) -> LocalType? {
    extensions[type]?.first { $0.scope == owner }
  }

  /// Returns all local fields of an upstream type as one type with its name; nil if it has none.
  ///
  /// Its scope is that of the first part, and says nothing of the others.
  package func allFields(of type: String) -> LocalType? {
    guard let parts = extensions[type], let first = parts.first else { return nil }
    return LocalType(name: type, scope: first.scope, fields: parts.flatMap(\.fields))
      .extending(type)
  }
}
