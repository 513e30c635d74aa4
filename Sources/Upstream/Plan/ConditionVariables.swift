import GraphQL

/// The variables of `@skip` and `@include`: they decide which selections are included, so an
/// operation has one shape for each combination of them.
enum ConditionVariables {
  /// Whether a selection is included, given the variables' values.
  static func includes(_ directives: [Directive], _ value: (String) -> Bool) -> Bool {
    for directive in directives {
      guard let condition = directive.argument(named: "if") else { continue }
      let holds =
        switch condition.kind {
        case .boolean(let flag): flag
        case .variable(let name): value(name)
        default: false
        }
      switch directive.name.value {
      case "skip" where holds: return false
      case "include" where !holds: return false
      default: continue
      }
    }
    return true
  }

  /// Whether a selection is included whatever the variables are.
  static func isUnconditional(_ directives: [Directive]) -> Bool {
    !directives.contains { directive in
      guard directive.name.value == "skip" || directive.name.value == "include" else {
        return false
      }
      let included = directive.name.value == "include"
      return directive.argument(named: "if")?.kind != .boolean(included)
    }
  }

  /// The variables in conditions of these selections, in alphabetical order.
  static func names(in sets: [SelectionSet]) -> [String] {
    var names = Set<String>()
    for set in sets { collect(set, into: &names) }
    return names.sorted()
  }

  private static func collect(_ set: SelectionSet, into names: inout Set<String>) {
    for selection in set.selections {
      for directive in selection.directives
      where directive.name.value == "skip" || directive.name.value == "include" {
        if case .variable(let name)? = directive.argument(named: "if")?.kind { names.insert(name) }
      }
      switch selection {
      case .field(let field): if let inner = field.selectionSet { collect(inner, into: &names) }
      case .inlineFragment(let fragment): collect(fragment.selectionSet, into: &names)
      case .fragmentSpread: continue
      }
    }
  }
}
