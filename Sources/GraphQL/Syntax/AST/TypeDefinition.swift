/// A definition of a named type, or with `isExtension` an extension of one.
package struct TypeDefinition: Hashable, Sendable {
  /// What the kinds do not have in common.
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

  /// The interfaces an object or interface type says it implements.
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
