/// A type as variables, fields and arguments name it: `Name`, `[Name]`, `Name!` and their nesting.
/// The same value serves in documents and in a `Schema`.
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

  /// What a list, nullable or not, holds; absent for other types.
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
