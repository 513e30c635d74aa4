import GraphQL

/// An operation that may run: parsed, valid, chosen by name, its variables coerced.
struct PreparedOperation {
  let operation: OperationDefinition
  let rootType: NamedType
  let collector: FieldCollector

  var kind: OperationType { operation.operation }
  var name: String? { operation.name?.value }
}
