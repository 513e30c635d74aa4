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
