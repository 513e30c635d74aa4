import GraphQL

/// How many levels of fields an operation nests. Each fragment is measured once, so that fragments
/// which spread each other many times cost nothing.
struct SelectionDepth {
  private let fragments: [String: FragmentDefinition]
  private var measured: [String: Int] = [:]

  init(fragments: [String: FragmentDefinition]) {
    self.fragments = fragments
  }

  /// - Precondition: validation has found no fragment cycle.
  mutating func levels(in set: SelectionSet) -> Int {
    set.selections.reduce(0) { deepest, selection in
      max(deepest, levels(in: selection))
    }
  }

  private mutating func levels(in selection: Selection) -> Int {
    switch selection {
    case .field(let field): return 1 + (field.selectionSet.map { levels(in: $0) } ?? 0)
    case .inlineFragment(let fragment): return levels(in: fragment.selectionSet)
    case .fragmentSpread(let spread):
      let name = spread.name.value
      if let known = measured[name] { return known }
      let depth = fragments[name].map { levels(in: $0.selectionSet) } ?? 0
      measured[name] = depth
      return depth
    }
  }
}
