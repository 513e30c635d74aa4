import GraphQL

/// The text of one operation with the fragments it uses. Directives for the client are taken out, and
/// so are descriptions, which servers of before September 2025 do not know.
enum SentDocument {
  static func text(
    of operation: OperationDefinition, fragments: [FragmentDefinition]
  ) -> String {
    var stripped = operation
    stripped.description = nil
    for index in stripped.variableDefinitions.indices {
      stripped.variableDefinitions[index].description = nil
    }
    stripped.directives = strip(operation.directives)
    stripped.selectionSet = strip(operation.selectionSet)
    let definitions =
      [Definition.operation(stripped)]
      + fragments.map { fragment in
        var stripped = fragment
        stripped.description = nil
        stripped.directives = strip(fragment.directives)
        stripped.selectionSet = strip(fragment.selectionSet)
        return .fragment(stripped)
      }
    return Printer.print(Document(definitions: definitions))
  }

  private static func strip(_ directives: [Directive]) -> [Directive] {
    directives.filter { !ClientDirectives.inOperations.contains($0.name.value) }
  }

  private static func strip(_ set: SelectionSet) -> SelectionSet {
    let selections = set.selections.map { selection -> GraphQL.Selection in
      switch selection {
      case .field(var field):
        field.directives = strip(field.directives)
        field.selectionSet = field.selectionSet.map(strip)
        return .field(field)
      case .inlineFragment(var fragment):
        fragment.directives = strip(fragment.directives)
        fragment.selectionSet = strip(fragment.selectionSet)
        return .inlineFragment(fragment)
      case .fragmentSpread(var spread):
        spread.directives = strip(spread.directives)
        return .fragmentSpread(spread)
      }
    }
    return SelectionSet(selections, location: set.location)
  }
}
