/// `schema { query: Query … }`, or `extend schema`.
package struct SchemaDefinition: Hashable, Sendable {
  package var description: Description?
  package var directives: [Directive]
  package var operationTypes: [OperationTypeDefinition]
  package var isExtension: Bool
  package var location: Location

  package init(
    description: Description? = nil, directives: [Directive] = [],
    operationTypes: [OperationTypeDefinition], isExtension: Bool = false,
    location: Location = .none
  ) {
    self.description = description
    self.directives = directives
    self.operationTypes = operationTypes
    self.isExtension = isExtension
    self.location = location
  }
}
