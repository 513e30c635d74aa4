/// A parsed document, executable, type-system or mixed.
package struct Document: Hashable, Sendable {
  package var definitions: [Definition]
  package var location: Location

  package init(definitions: [Definition], location: Location = .none) {
    self.definitions = definitions
    self.location = location
  }

  /// One document of all the definitions, in order: fragments of one file serve the operations of
  /// another. Each node keeps the location in its own source.
  package init(joining documents: [Document]) {
    self.init(definitions: documents.flatMap(\.definitions))
  }

  package var operations: [OperationDefinition] {
    definitions.compactMap { if case .operation(let operation) = $0 { operation } else { nil } }
  }

  package var fragments: [FragmentDefinition] {
    definitions.compactMap { if case .fragment(let fragment) = $0 { fragment } else { nil } }
  }
}
