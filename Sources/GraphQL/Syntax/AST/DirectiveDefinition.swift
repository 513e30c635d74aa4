/// `directive @name(argument: Type) repeatable on LOCATION | …`.
package struct DirectiveDefinition: Hashable, Sendable {
  package var description: Description?
  package var name: Name
  package var arguments: [InputValueDefinition]
  package var isRepeatable: Bool
  package var locations: [DirectiveLocation]
  package var location: Location

  package init(
    description: Description? = nil, name: Name, arguments: [InputValueDefinition] = [],
    isRepeatable: Bool = false, locations: [DirectiveLocation], location: Location = .none
  ) {
    self.description = description
    self.name = name
    self.arguments = arguments
    self.isRepeatable = isRepeatable
    self.locations = locations
    self.location = location
  }
}
