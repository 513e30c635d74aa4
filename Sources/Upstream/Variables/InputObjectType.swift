package import LosslessJSON

/// An input object type: its fields in declared order.
package struct InputObjectType: Sendable {
  package struct Field: Sendable {
    package let name: String
    package let type: InputType
    package let defaultValue: JSONValue?

    package var isRequired: Bool { type.isNonNull && defaultValue == nil }
  }

  package let name: String
  package let fields: [Field]
  /// Exactly one field must be given, and not as null.
  package let isOneOf: Bool

  package func field(named name: String) -> Field? { fields.first { $0.name == name } }
}

/// All input object types of a schema, by name.
package typealias InputObjectTypes = [String: InputObjectType]
