import GraphQL

/// Which fragments an operation needs.
enum FragmentUse {
  /// Names of all fragments spread in these selections, those of fragments included, in the order
  /// of their first use.
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
