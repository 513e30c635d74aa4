/// The syntax tree of a ``TextPattern``.
indirect enum PatternNode {
  case empty
  case test(PatternTest)
  case assertion(PatternAssertion)
  case sequence([PatternNode])
  case choice([PatternNode])
  /// - Parameter max: nil for any number.
  case repetition(PatternNode, min: Int, max: Int?)

  /// A lower bound on the states of the automaton of ``PatternProgram``. Saturates, since counted
  /// repetitions multiply.
  var size: Int {
    switch self {
    case .empty: 0
    case .test(let test): test.cost
    case .assertion: 1
    case .sequence(let nodes): nodes.reduce(0) { Self.sum($0, $1.size) }
    case .choice(let nodes): nodes.reduce(0) { Self.sum(Self.sum($0, $1.size), 2) }
    case .repetition(let node, let min, let max):
      // An empty repetition adds no states, but each round of it takes time to expand.
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

/// A condition on a position in the text, which consumes no character.
enum PatternAssertion: Hashable, Sendable {
  case start
  case end
  /// The end, or before a line break that ends the text: `$`.
  case endOrLastLineBreak
}

/// The automaton of a ``TextPattern``, as instructions for ``PatternRun``.
struct PatternProgram: Sendable {
  enum Instruction: Sendable {
    /// Consumes a character that passes the test, and continues with the next instruction.
    case test(PatternTest)
    case assertion(PatternAssertion)
    case split(Int, Int)
    case jump(Int)
    case accept
  }

  private(set) var instructions: [Instruction] = []

  init(_ node: PatternNode) throws(PatternFault) {
    let size = node.size
    guard size <= TextPattern.statesMax else {
      throw PatternFault(
        "the pattern needs more than \(TextPattern.statesMax) states with its repetitions "
          + "expanded: use smaller repetitions, and limit the length with @length")
    }
    append(node)
    instructions.append(.accept)
  }

  private mutating func append(_ node: PatternNode) {
    switch node {
    case .empty: break
    case .test(let test): instructions.append(.test(test))
    case .assertion(let assertion): instructions.append(.assertion(assertion))
    case .sequence(let nodes): for node in nodes { append(node) }
    case .choice(let nodes): append(choice: nodes)
    case .repetition(let node, let min, let max):
      for _ in 0..<min { append(node) }
      if let max {
        for _ in min..<Swift.max(min, max) { append(optional: node) }
      } else {
        append(anyNumberOf: node)
      }
    }
  }

  private mutating func append(choice nodes: [PatternNode]) {
    var ends: [Int] = []
    for (index, node) in nodes.enumerated() {
      guard index < nodes.count - 1 else {
        append(node)
        break
      }
      let split = instructions.count
      instructions.append(.accept)
      append(node)
      ends.append(instructions.count)
      instructions.append(.accept)
      instructions[split] = .split(split + 1, instructions.count)
    }
    for end in ends { instructions[end] = .jump(instructions.count) }
  }

  private mutating func append(optional node: PatternNode) {
    let split = instructions.count
    instructions.append(.accept)
    append(node)
    instructions[split] = .split(split + 1, instructions.count)
  }

  private mutating func append(anyNumberOf node: PatternNode) {
    let split = instructions.count
    instructions.append(.accept)
    append(node)
    instructions.append(.jump(split))
    instructions[split] = .split(split + 1, instructions.count)
  }
}

/// One match of a text: the set of possible states of the automaton, advanced by each character.
struct PatternRun {
  private let program: PatternProgram
  private let units: [PatternUnit]
  /// The cost of the match: instructions entered and tests made.
  private(set) var steps = 0
  /// Test instructions for the next character.
  private var waiting: [Int] = []
  /// The position in the text at which each instruction was last entered.
  private var entered: [Int]
  private var hasAccepted = false

  init(_ program: PatternProgram, _ text: String) {
    self.program = program
    units = text.map { PatternUnit($0) }
    entered = Array(repeating: -1, count: program.instructions.count)
  }

  /// Returns whether the text matches; nil if that needs more steps than the budget.
  mutating func matches(budget: Int) -> Bool? {
    enter(0, at: 0)
    for (place, unit) in units.enumerated() {
      guard steps <= budget else { return nil }
      let tested = waiting
      waiting.removeAll(keepingCapacity: true)
      hasAccepted = false
      for index in tested {
        guard case .test(let test) = program.instructions[index] else { continue }
        steps += test.cost
        if test.holds(of: unit) { enter(index + 1, at: place + 1) }
      }
      if waiting.isEmpty, !hasAccepted { return false }
    }
    return steps <= budget ? hasAccepted : nil
  }

  /// Follows all instructions that consume no character.
  private mutating func enter(_ first: Int, at place: Int) {
    var next = [first]
    while let index = next.popLast() {
      guard entered[index] != place else { continue }
      entered[index] = place
      steps += 1
      switch program.instructions[index] {
      case .test: waiting.append(index)
      case .assertion(let assertion):
        if holds(assertion, at: place) { next.append(index + 1) }
      case .split(let left, let right):
        next.append(right)
        next.append(left)
      case .jump(let target): next.append(target)
      case .accept: hasAccepted = true
      }
    }
  }

  private func holds(_ assertion: PatternAssertion, at place: Int) -> Bool {
    switch assertion {
    case .start: place == 0
    case .end: place == units.count
    case .endOrLastLineBreak:
      place == units.count || place == units.count - 1 && units[place].character.isNewline
    }
  }
}
