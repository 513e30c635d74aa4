/// A name as written, with its location.
package struct Name: Hashable, Sendable, CustomStringConvertible {
  package var value: String
  package var location: Location

  package init(_ value: String, location: Location = .none) {
    self.value = value
    self.location = location
  }

  package var description: String { value }
}

/// A value literal, or a variable in its place.
package struct Value: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// The name without the dollar sign.
    case variable(String)
    /// The digits as written: an integer can exceed any machine type.
    case int(String)
    /// The digits as written.
    case float(String)
    /// The text with escapes resolved and block indentation removed.
    case string(String, isBlock: Bool)
    case boolean(Bool)
    case null
    case `enum`(String)
    case list([Value])
    case object([ObjectField])
  }

  package var kind: Kind
  package var location: Location

  package init(_ kind: Kind, location: Location = .none) {
    self.kind = kind
    self.location = location
  }
}

extension Value {
  /// The text of a string literal.
  package var stringText: String? {
    if case .string(let text, _) = kind { text } else { nil }
  }

  /// The names of all variables inside, in order, repeats included.
  package var variables: [Name] {
    switch kind {
    case .variable(let name): [Name(name, location: location)]
    case .list(let items): items.flatMap(\.variables)
    case .object(let fields): fields.flatMap(\.value.variables)
    case .int, .float, .string, .boolean, .null, .enum: []
    }
  }
}

/// `name: value` inside an input object literal.
package struct ObjectField: Hashable, Sendable {
  package var name: Name
  package var value: Value
  package var location: Location

  package init(name: Name, value: Value, location: Location = .none) {
    self.name = name
    self.value = value
    self.location = location
  }
}

/// `name: value` of a field or a directive.
package struct Argument: Hashable, Sendable {
  package var name: Name
  package var value: Value
  package var location: Location

  package init(name: Name, value: Value, location: Location = .none) {
    self.name = name
    self.value = value
    self.location = location
  }
}

/// `@name(argument: value)` where it is applied.
package struct Directive: Hashable, Sendable {
  package var name: Name
  package var arguments: [Argument]
  package var location: Location

  package init(name: Name, arguments: [Argument] = [], location: Location = .none) {
    self.name = name
    self.arguments = arguments
    self.location = location
  }

  package func argument(named name: String) -> Value? {
    arguments.first { $0.name.value == name }?.value
  }
}

extension [Directive] {
  /// The first application of a directive.
  package func directive(named name: String) -> Directive? {
    first { $0.name.value == name }
  }
}

/// The type of a variable, field or argument: `Name`, `[Name]`, `Name!` and their nesting.
/// Used in documents and in a `Schema`.
package indirect enum TypeReference: Hashable, Sendable {
  case named(Name)
  case list(TypeReference, Location)
  /// The inner type is never itself non-null.
  case nonNull(TypeReference, Location)

  package static func named(_ name: String) -> TypeReference { .named(Name(name)) }
  package static func list(_ item: TypeReference) -> TypeReference { .list(item, .none) }
  package static func nonNull(_ inner: TypeReference) -> TypeReference { .nonNull(inner, .none) }
}

extension TypeReference {
  /// The innermost name.
  package var name: Name {
    switch self {
    case .named(let name): name
    case .list(let inner, _), .nonNull(let inner, _): inner.name
    }
  }

  package var location: Location {
    switch self {
    case .named(let name): name.location
    case .list(_, let location), .nonNull(_, let location): location
    }
  }

  package var isNonNull: Bool {
    if case .nonNull = self { true } else { false }
  }

  /// The type without its outermost exclamation mark.
  package var nullable: TypeReference {
    if case .nonNull(let inner, _) = self { inner } else { self }
  }

  /// The element type of a list, nullable or not; nil for other types.
  package var item: TypeReference? {
    if case .list(let item, _) = nullable { item } else { nil }
  }
}

extension TypeReference: CustomStringConvertible {
  package var description: String {
    switch self {
    case .named(let name): name.value
    case .list(let item, _): "[\(item)]"
    case .nonNull(let inner, _): "\(inner)!"
    }
  }
}
