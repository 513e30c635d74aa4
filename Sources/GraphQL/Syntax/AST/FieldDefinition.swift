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
