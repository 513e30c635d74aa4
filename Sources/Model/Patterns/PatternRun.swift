/// One match of a text: the set of states that the automaton can be in, moved on by each character.
struct PatternRun {
  private let program: PatternProgram
  private let units: [PatternUnit]
  /// Instructions entered and tests made: what the match cost.
  private(set) var steps = 0
  /// Instructions of tests that the next character is put to.
  private var waiting: [Int] = []
  /// The place in the text at which each instruction was entered last.
  private var entered: [Int]
  private var hasAccepted = false

  init(_ program: PatternProgram, _ text: String) {
    self.program = program
    units = text.map { PatternUnit($0) }
    entered = Array(repeating: -1, count: program.instructions.count)
  }

  /// Nil where more steps than the budget would be needed.
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

  /// Follows all that takes no character.
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
