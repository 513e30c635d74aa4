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
