import GraphQL

/// The text of one operation with the fragments it uses, without client directives, and without
/// descriptions, which servers before September 2025 do not know.
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

/// Finds the fragments that an operation needs.
enum FragmentUse {
  /// Names of all fragments spread in these selections, directly or indirectly, in order of first
  /// use.
  static func names(
    in set: SelectionSet, fragments: [String: FragmentDefinition]
  ) -> [String] {
    var found: [String] = []
    var seen: Set<String> = []
    collect(set, fragments, into: &found, seen: &seen)
    return found
  }

  private static func collect(
    _ set: SelectionSet, _ fragments: [String: FragmentDefinition], into found: inout [String],
    seen: inout Set<String>
  ) {
    for selection in set.selections {
      switch selection {
      case .field(let field):
        if let inner = field.selectionSet { collect(inner, fragments, into: &found, seen: &seen) }
      case .inlineFragment(let fragment):
        collect(fragment.selectionSet, fragments, into: &found, seen: &seen)
      case .fragmentSpread(let spread):
        let name = spread.name.value
        guard let fragment = fragments[name], seen.insert(name).inserted else { continue }
        found.append(name)
        collect(fragment.selectionSet, fragments, into: &found, seen: &seen)
      }
    }
  }
}

/// Response names that Larder adds to operations.
enum ReservedNames {
  /// The prefix, which no alias or field in an operation can have.
  static let prefix = "larder_"
  static let typename = "larder_typename"

  /// The alias of a key field added to a selection on `type`. It includes the type, because fields
  /// with one response name must have one type even on objects that never coincide (specification,
  /// 5.3.2).
  static func key(_ field: String, on type: String) -> String { "\(prefix)\(type)_\(field)" }

  static func isReserved(_ name: String) -> Bool { name.hasPrefix(prefix) }
}
