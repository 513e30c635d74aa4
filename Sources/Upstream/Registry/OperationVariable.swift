package import LosslessJSON

/// A variable of an operation as its callers see it.
package struct OperationVariable: Sendable {
  package let name: String
  /// As declared: `[ID!]!`.
  package let typeText: String
  package let type: InputType
  /// The coerced default; nil without one.
  package let defaultValue: JSONValue?

  package init(name: String, typeText: String, type: InputType, defaultValue: JSONValue?) {
    self.name = name
    self.typeText = typeText
    self.type = type
    self.defaultValue = defaultValue
  }

  package var isRequired: Bool { type.isNonNull && defaultValue == nil }
}
