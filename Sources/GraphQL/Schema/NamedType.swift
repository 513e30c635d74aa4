/// A named type of a schema.
///
/// One class for all kinds, so that a lookup returns a shared reference and most code needs no switch;
/// properties that a kind does not have are empty. Other types are named, not referenced, since the
/// types of a schema form cycles.
package final class NamedType: Named, Sendable {
  package let kind: TypeKind
  package let name: String
  package let description: String?
  /// Of an object or interface type, without the meta fields (`Schema.field(named:on:)` has those).
  package let fields: NamedList<SchemaField>
  /// Of an object or interface type.
  package let interfaces: [String]
  /// Of a union.
  package let members: [String]
  /// Of an enum.
  package let values: NamedList<EnumValue>
  /// Of an input object.
  package let inputFields: NamedList<InputValue>
  /// Whether an input object requires exactly one of its fields.
  package let isOneOf: Bool
  /// Where a custom scalar is specified.
  package let specifiedByURL: String?
  /// As applied in SDL, extensions included; empty for a schema that came from introspection.
  package let directives: [Directive]
  /// Of the definition's name.
  package let location: Location

  package init(
    kind: TypeKind, name: String, description: String? = nil,
    fields: NamedList<SchemaField> = NamedList(), interfaces: [String] = [],
    members: [String] = [], values: NamedList<EnumValue> = NamedList(),
    inputFields: NamedList<InputValue> = NamedList(), isOneOf: Bool = false,
    specifiedByURL: String? = nil, directives: [Directive] = [], location: Location = .none
  ) {
    self.kind = kind
    self.name = name
    self.description = description
    self.fields = fields
    self.interfaces = interfaces
    self.members = members
    self.values = values
    self.inputFields = inputFields
    self.isOneOf = isOneOf
    self.specifiedByURL = specifiedByURL
    self.directives = directives
    self.location = location
  }
}

extension NamedType {
  /// Whether it is a scalar or an enum.
  package var isLeaf: Bool { kind == .scalar || kind == .enum }
  /// Whether fields are selected on it.
  package var isComposite: Bool { kind == .object || isAbstract }
  /// Whether it is an interface or a union.
  package var isAbstract: Bool { kind == .interface || kind == .union }
  /// Whether variables and arguments can have it.
  package var isInput: Bool { isLeaf || kind == .inputObject }
  /// Whether fields can have it.
  package var isOutput: Bool { kind != .inputObject }
}

/// The kinds of named types; the raw value is that of introspection.
package enum TypeKind: String, Hashable, Sendable, CaseIterable {
  case scalar = "SCALAR"
  case object = "OBJECT"
  case interface = "INTERFACE"
  case union = "UNION"
  case `enum` = "ENUM"
  case inputObject = "INPUT_OBJECT"
}

/// A field of an object or interface type.
package struct SchemaField: Named, Sendable {
  package let name: String
  package let description: String?
  package let arguments: NamedList<InputValue>
  package let type: TypeReference
  package let deprecationReason: String?
  /// As applied in the type's SDL; empty for a schema that came from introspection.
  package let directives: [Directive]
  package let location: Location

  package init(
    name: String, description: String? = nil, arguments: NamedList<InputValue> = NamedList(),
    type: TypeReference, deprecationReason: String? = nil, directives: [Directive] = [],
    location: Location = .none
  ) {
    self.name = name
    self.description = description
    self.arguments = arguments
    self.type = type
    self.deprecationReason = deprecationReason
    self.directives = directives
    self.location = location
  }
}

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

  /// Whether a value is required: the type is non-null and there is no default.
  package var isRequired: Bool { type.isNonNull && defaultValue == nil }
}

/// A value of an enum type.
package struct EnumValue: Named, Sendable {
  package let name: String
  package let description: String?
  package let deprecationReason: String?
  package let directives: [Directive]
  package let location: Location

  package init(
    name: String, description: String? = nil, deprecationReason: String? = nil,
    directives: [Directive] = [], location: Location = .none
  ) {
    self.name = name
    self.description = description
    self.deprecationReason = deprecationReason
    self.directives = directives
    self.location = location
  }
}

/// A directive a schema declares.
package struct SchemaDirective: Named, Sendable {
  package let name: String
  package let description: String?
  package let arguments: NamedList<InputValue>
  package let isRepeatable: Bool
  package let locations: Set<DirectiveLocation>
  package let location: Location

  package init(
    name: String, description: String? = nil, arguments: NamedList<InputValue> = NamedList(),
    isRepeatable: Bool = false, locations: Set<DirectiveLocation>, location: Location = .none
  ) {
    self.name = name
    self.description = description
    self.arguments = arguments
    self.isRepeatable = isRepeatable
    self.locations = locations
    self.location = location
  }
}
