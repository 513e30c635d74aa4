/// `... on Type @directive { … }`; without a type condition it keeps the parent's type.
package struct InlineFragment: Hashable, Sendable {
  package var typeCondition: Name?
  package var directives: [Directive]
  package var selectionSet: SelectionSet
  package var location: Location

  package init(
    typeCondition: Name? = nil, directives: [Directive] = [], selectionSet: SelectionSet,
    location: Location = .none
  ) {
    self.typeCondition = typeCondition
    self.directives = directives
    self.selectionSet = selectionSet
    self.location = location
  }
}
