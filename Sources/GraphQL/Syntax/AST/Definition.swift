/// A definition at the top of a document. An extension is the definition it extends with
/// `isExtension` set.
package enum Definition: Hashable, Sendable {
  case operation(OperationDefinition)
  case fragment(FragmentDefinition)
  case schema(SchemaDefinition)
  case type(TypeDefinition)
  case directive(DirectiveDefinition)

  package var location: Location {
    switch self {
    case .operation(let node): node.location
    case .fragment(let node): node.location
    case .schema(let node): node.location
    case .type(let node): node.location
    case .directive(let node): node.location
    }
  }

  /// Whether a service can execute it: an operation or a fragment.
  package var isExecutable: Bool {
    switch self {
    case .operation, .fragment: true
    case .schema, .type, .directive: false
    }
  }
}
