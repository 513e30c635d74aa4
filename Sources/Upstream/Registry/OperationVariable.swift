package import LosslessJSON

/// A variable of an operation as its callers see it.
package struct OperationVariable: Sendable {
  package let name: String
  /// The team's own words for it; nil without.
  package let description: String?
  /// As declared: `[ID!]!`.
  package let typeText: String
  package let type: InputType
  /// The coerced default; nil without one.
  package let defaultValue: JSONValue?

  package init(
    name: String, description: String? = nil, typeText: String, type: InputType,
    defaultValue: JSONValue?
  ) {
    self.name = name
    self.description = description
    self.typeText = typeText
    self.type = type
    self.defaultValue = defaultValue
  }

  package var isRequired: Bool { type.isNonNull && defaultValue == nil }
}
