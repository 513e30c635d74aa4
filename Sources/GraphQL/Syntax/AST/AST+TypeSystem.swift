/// The documentation string before a type-system definition.
package struct Description: Hashable, Sendable {
  package var text: String
  package var isBlock: Bool
  package var location: Location

  package init(_ text: String, isBlock: Bool = true, location: Location = .none) {
    self.text = text
    self.isBlock = isBlock
    self.location = location
  }
}

/// `schema { query: Query … }`, or `extend schema`.
package struct SchemaDefinition: Hashable, Sendable {
  package var description: Description?
  package var directives: [Directive] = []
  package var operationTypes: [OperationTypeDefinition]
  package var isExtension: Bool = false
  package var location: Location = .none
}

/// `query: Query` in a schema definition.
package struct OperationTypeDefinition: Hashable, Sendable {
  package var operation: OperationType
  package var type: Name
  package var location: Location = .none
}

/// A definition of a named type, or with `isExtension` an extension of one.
package struct TypeDefinition: Hashable, Sendable {
  /// The parts that differ between kinds.
  package enum Body: Hashable, Sendable {
    case scalar
    case object(interfaces: [Name], fields: [FieldDefinition])
    case interface(interfaces: [Name], fields: [FieldDefinition])
    case union(members: [Name])
    case `enum`(values: [EnumValueDefinition])
    case inputObject(fields: [InputValueDefinition])
  }

  package var description: Description?
  package var name: Name
  package var directives: [Directive]
  package var body: Body
  package var isExtension: Bool
  package var location: Location

  package init(
    description: Description? = nil, name: Name, directives: [Directive] = [], body: Body,
    isExtension: Bool = false, location: Location = .none
  ) {
    self.description = description
    self.name = name
    self.directives = directives
    self.body = body
    self.isExtension = isExtension
    self.location = location
  }
}

extension TypeDefinition {
  package var kind: TypeKind {
    switch body {
    case .scalar: .scalar
    case .object: .object
    case .interface: .interface
    case .union: .union
    case .enum: .enum
    case .inputObject: .inputObject
    }
  }

  /// The fields of an object or interface type; none for other kinds.
  package var fields: [FieldDefinition] {
    switch body {
    case .object(_, let fields), .interface(_, let fields): fields
    case .scalar, .union, .enum, .inputObject: []
    }
  }

  /// The interfaces that an object or interface type declares.
  package var interfaces: [Name] {
    switch body {
    case .object(let interfaces, _), .interface(let interfaces, _): interfaces
    case .scalar, .union, .enum, .inputObject: []
    }
  }

  package var members: [Name] {
    if case .union(let members) = body { members } else { [] }
  }

  package var enumValues: [EnumValueDefinition] {
    if case .enum(let values) = body { values } else { [] }
  }

  package var inputFields: [InputValueDefinition] {
    if case .inputObject(let fields) = body { fields } else { [] }
  }
}

/// `name(argument: Type): Type @directive` in an object or interface type.
package struct FieldDefinition: Hashable, Sendable {
  package var description: Description?
  package var name: Name
  package var arguments: [InputValueDefinition]
  package var type: TypeReference
  package var directives: [Directive]
  package var location: Location

  package init(
    description: Description? = nil, name: Name, arguments: [InputValueDefinition] = [],
    type: TypeReference, directives: [Directive] = [], location: Location = .none
  ) {
    self.description = description
    self.name = name
    self.arguments = arguments
    self.type = type
    self.directives = directives
    self.location = location
  }
}

/// `name: Type = default @directive`: an argument, or a field of an input object.
package struct InputValueDefinition: Hashable, Sendable {
  package var description: Description?
  package var name: Name
  package var type: TypeReference
  package var defaultValue: Value?
  package var directives: [Directive]
  package var location: Location

  package init(
    description: Description? = nil, name: Name, type: TypeReference, defaultValue: Value? = nil,
    directives: [Directive] = [], location: Location = .none
  ) {
    self.description = description
    self.name = name
    self.type = type
    self.defaultValue = defaultValue
    self.directives = directives
    self.location = location
  }
}

/// One value of an enum type.
package struct EnumValueDefinition: Hashable, Sendable {
  package var description: Description?
  package var name: Name
  package var directives: [Directive] = []
  package var location: Location = .none
}

/// `directive @name(argument: Type) repeatable on LOCATION | …`.
package struct DirectiveDefinition: Hashable, Sendable {
  package var description: Description?
  package var name: Name
  package var arguments: [InputValueDefinition] = []
  package var isRepeatable: Bool = false
  package var locations: [DirectiveLocation]
  package var location: Location = .none
}

/// The locations that a directive can be declared for; the raw value is that of the specification.
package enum DirectiveLocation: String, Hashable, Sendable, CaseIterable {
  case query = "QUERY"
  case mutation = "MUTATION"
  case subscription = "SUBSCRIPTION"
  case field = "FIELD"
  case fragmentDefinition = "FRAGMENT_DEFINITION"
  case fragmentSpread = "FRAGMENT_SPREAD"
  case inlineFragment = "INLINE_FRAGMENT"
  case variableDefinition = "VARIABLE_DEFINITION"
  case schema = "SCHEMA"
  case scalar = "SCALAR"
  case object = "OBJECT"
  case fieldDefinition = "FIELD_DEFINITION"
  case argumentDefinition = "ARGUMENT_DEFINITION"
  case interface = "INTERFACE"
  case union = "UNION"
  case `enum` = "ENUM"
  case enumValue = "ENUM_VALUE"
  case inputObject = "INPUT_OBJECT"
  case inputFieldDefinition = "INPUT_FIELD_DEFINITION"
}
