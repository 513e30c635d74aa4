/// A named type of a schema.
///
/// One class for all kinds, so that a lookup gives a shared reference and most questions need no
/// switch; what a kind does not have is empty. Other types are named, not referred to: a schema's
/// types form circles.
package final class NamedType: Named, Sendable {
  package let kind: TypeKind
  package let name: String
  package let description: String?
  /// Of an object or interface type, without the meta fields (`Schema.field(named:on:)` knows those).
  package let fields: NamedList<SchemaField>
  /// Of an object or interface type.
  package let interfaces: [String]
  /// Of a union.
  package let members: [String]
  /// Of an enum.
  package let values: NamedList<EnumValue>
  /// Of an input object.
  package let inputFields: NamedList<InputValue>
  /// Whether an input object takes exactly one of its fields.
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
  /// A type with a value of its own in an answer: a scalar or an enum.
  package var isLeaf: Bool { kind == .scalar || kind == .enum }
  /// A type fields are selected on.
  package var isComposite: Bool { kind == .object || isAbstract }
  /// A type that stands for one of several object types.
  package var isAbstract: Bool { kind == .interface || kind == .union }
  /// A type variables and arguments may have.
  package var isInput: Bool { isLeaf || kind == .inputObject }
  /// A type fields may have.
  package var isOutput: Bool { kind != .inputObject }
}
