/// A parsed document, executable, type-system or mixed.
package struct Document: Hashable, Sendable {
  package var definitions: [Definition]
  package var location: Location

  package init(definitions: [Definition], location: Location = .none) {
    self.definitions = definitions
    self.location = location
  }

  /// Creates one document of all definitions, in order, so that operations can use fragments of other
  /// files. Each node keeps the location in its own source.
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
}

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

/// The three kinds of operation; the raw value is the keyword.
package enum OperationType: String, Hashable, Sendable, CaseIterable {
  case query
  case mutation
  case subscription
}

/// `$name: Type = default @directive`.
package struct VariableDefinition: Hashable, Sendable {
  package var description: Description?
  /// Without the dollar sign; its location begins after it.
  package var name: Name
  package var type: TypeReference
  package var defaultValue: Value?
  package var directives: [Directive]
  /// From the dollar sign on.
  package var location: Location

  package init(
    description: Description? = nil, name: Name, type: TypeReference, defaultValue: Value? = nil,
    directives: [Directive] = [],
    location: Location = .none
  ) {
    self.description = description
    self.name = name
    self.type = type
    self.defaultValue = defaultValue
    self.directives = directives
    self.location = location
  }
}

/// `{ … }` with at least one selection.
package struct SelectionSet: Hashable, Sendable {
  package var selections: [Selection]
  package var location: Location

  package init(_ selections: [Selection], location: Location = .none) {
    self.selections = selections
    self.location = location
  }
}

/// One member of a selection set.
package enum Selection: Hashable, Sendable {
  case field(Field)
  case fragmentSpread(FragmentSpread)
  case inlineFragment(InlineFragment)

  package var location: Location {
    switch self {
    case .field(let node): node.location
    case .fragmentSpread(let node): node.location
    case .inlineFragment(let node): node.location
    }
  }

  package var directives: [Directive] {
    switch self {
    case .field(let node): node.directives
    case .fragmentSpread(let node): node.directives
    case .inlineFragment(let node): node.directives
    }
  }
}

/// `alias: name(argument: value) @directive { … }`.
package struct Field: Hashable, Sendable {
  package var alias: Name?
  package var name: Name
  package var arguments: [Argument]
  package var directives: [Directive]
  package var selectionSet: SelectionSet?
  package var location: Location

  package init(
    alias: Name? = nil, name: Name, arguments: [Argument] = [], directives: [Directive] = [],
    selectionSet: SelectionSet? = nil, location: Location = .none
  ) {
    self.alias = alias
    self.name = name
    self.arguments = arguments
    self.directives = directives
    self.selectionSet = selectionSet
    self.location = location
  }

  /// The member of the response that holds the field's value: the alias, else the name.
  package var responseKey: String { (alias ?? name).value }
}

/// `...Name @directive`.
package struct FragmentSpread: Hashable, Sendable {
  package var name: Name
  package var directives: [Directive]
  package var location: Location

  package init(name: Name, directives: [Directive] = [], location: Location = .none) {
    self.name = name
    self.directives = directives
    self.location = location
  }
}

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
