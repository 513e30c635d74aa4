/// A value literal, or a variable in its place.
package struct Value: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// The name without the dollar sign.
    case variable(String)
    /// The digits as written: an integer may be longer than any machine type.
    case int(String)
    /// The digits as written.
    case float(String)
    /// The text meant, escapes resolved and block indentation removed.
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
