/// `fragment Name on Type @directive { … }`.
package struct FragmentDefinition: Hashable, Sendable {
  package var description: Description?
  package var name: Name
  package var typeCondition: Name
  package var directives: [Directive]
  package var selectionSet: SelectionSet
  package var location: Location

  package init(
    description: Description? = nil, name: Name, typeCondition: Name, directives: [Directive] = [],
    selectionSet: SelectionSet,
    location: Location = .none
  ) {
    self.description = description
    self.name = name
    self.typeCondition = typeCondition
    self.directives = directives
    self.selectionSet = selectionSet
    self.location = location
  }
}
