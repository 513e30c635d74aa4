/// The syntax tree of a ``TextPattern``.
indirect enum PatternNode {
  case empty
  case test(PatternTest)
  case assertion(PatternAssertion)
  case sequence([PatternNode])
  case choice([PatternNode])
  /// - Parameter max: nil for any number.
  case repetition(PatternNode, min: Int, max: Int?)

  /// States of the automaton at least, by ``PatternProgram``'s rules. Saturates, since counted
  /// repetitions multiply.
  var size: Int {
    switch self {
    case .empty: 0
    case .test(let test): test.cost
    case .assertion: 1
    case .sequence(let nodes): nodes.reduce(0) { Self.sum($0, $1.size) }
    case .choice(let nodes): nodes.reduce(0) { Self.sum(Self.sum($0, $1.size), 2) }
    case .repetition(let node, let min, let max):
      // An empty repetition makes no states, but each round of it takes time to write out.
      Self.product(Self.sum(node.size, 1), Swift.max(max ?? Self.sum(min, 2), 1))
    }
  }

  private static func sum(_ left: Int, _ right: Int) -> Int {
    let (sum, overflows) = left.addingReportingOverflow(right)
    return overflows ? .max : sum
  }

  private static func product(_ left: Int, _ right: Int) -> Int {
    let (product, overflows) = left.multipliedReportingOverflow(by: right)
    return overflows ? .max : product
  }
}

/// A condition on a place in the text, which takes no character.
enum PatternAssertion: Hashable, Sendable {
  case start
  case end
  /// The end, or before a line break that ends the text: `$`.
  case endOrLastLineBreak
}
