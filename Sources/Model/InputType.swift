/// The type of a variable or of an input object's field, resolved against the schema.
package indirect enum InputType: Hashable, Sendable {
  case nonNull(InputType)
  case list(InputType)
  /// A signed 32-bit integer.
  case int
  case float
  case string
  case boolean
  case id
  case enumeration(name: String, values: [String])
  /// An input object. Its fields are not part of the type, because input objects can contain themselves.
  case object(name: String)
  /// A custom scalar accepts any JSON value; in a query string it is text unless it is a number.
  case scalar(name: String, number: ScalarNumber?)

  package var isNonNull: Bool {
    if case .nonNull = self { true } else { false }
  }

  /// The type without its outermost exclamation mark.
  package var nullable: InputType {
    if case .nonNull(let inner) = self { inner } else { self }
  }
}

/// How a custom scalar's values are stored in columns and read from query strings.
package enum ScalarNumber: String, Hashable, Sendable {
  case integer
  case real
}
