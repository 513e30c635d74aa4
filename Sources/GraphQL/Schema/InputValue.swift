/// An argument of a field or directive, or a field of an input object type.
package struct InputValue: Named, Sendable {
  package let name: String
  package let description: String?
  package let type: TypeReference
  /// As written: not yet coerced. It holds no variables.
  package let defaultValue: Value?
  package let deprecationReason: String?
  package let directives: [Directive]
  package let location: Location

  package init(
    name: String, description: String? = nil, type: TypeReference, defaultValue: Value? = nil,
    deprecationReason: String? = nil, directives: [Directive] = [], location: Location = .none
  ) {
    self.name = name
    self.description = description
    self.type = type
    self.defaultValue = defaultValue
    self.deprecationReason = deprecationReason
    self.directives = directives
    self.location = location
  }

  /// Whether a value must be given: the type takes no null and there is no default.
  package var isRequired: Bool { type.isNonNull && defaultValue == nil }
}
