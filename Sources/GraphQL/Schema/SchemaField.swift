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
