/// The type of a variable or of an input object's field, resolved against the schema.
package indirect enum InputType: Hashable, Sendable {
  case nonNull(InputType)
  case list(InputType)
  /// 32 bits with sign.
  case int
  case float
  case string
  case boolean
  case id
  case enumeration(name: String, values: [String])
  /// Its fields are in ``InputObjectTypes``: input objects may hold themselves.
  case object(name: String)
  /// A custom scalar takes any JSON value; a query string gives it text unless it is a number.
  case scalar(name: String, number: RegistrySettings.ScalarNumber?)

  package var isNonNull: Bool {
    if case .nonNull = self { true } else { false }
  }

  /// The type without its outermost exclamation mark.
  package var nullable: InputType {
    if case .nonNull(let inner) = self { inner } else { self }
  }
}
