/// One value of an enum type.
package struct EnumValueDefinition: Hashable, Sendable {
  package var description: Description?
  package var name: Name
  package var directives: [Directive]
  package var location: Location

  package init(
    description: Description? = nil, name: Name, directives: [Directive] = [],
    location: Location = .none
  ) {
    self.description = description
    self.name = name
    self.directives = directives
    self.location = location
  }
}
