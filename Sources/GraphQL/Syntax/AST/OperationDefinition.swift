/// `query Name($variable: Type) @directive { … }`, or the shorthand `{ … }`.
package struct OperationDefinition: Hashable, Sendable {
  package var description: Description?
  package var operation: OperationType
  package var name: Name?
  package var variableDefinitions: [VariableDefinition]
  package var directives: [Directive]
  package var selectionSet: SelectionSet
  package var location: Location

  package init(
    description: Description? = nil, operation: OperationType, name: Name? = nil,
    variableDefinitions: [VariableDefinition] = [],
    directives: [Directive] = [], selectionSet: SelectionSet, location: Location = .none
  ) {
    self.description = description
    self.operation = operation
    self.name = name
    self.variableDefinitions = variableDefinitions
    self.directives = directives
    self.selectionSet = selectionSet
    self.location = location
  }
}
