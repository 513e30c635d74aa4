/// `query: Query` in a schema definition.
package struct OperationTypeDefinition: Hashable, Sendable {
  package var operation: OperationType
  package var type: Name
  package var location: Location

  package init(operation: OperationType, type: Name, location: Location = .none) {
    self.operation = operation
    self.type = type
    self.location = location
  }
}
