/// The automaton of a ``TextPattern``, as instructions that a run follows.
struct PatternProgram: Sendable {
  enum Instruction: Sendable {
    /// Takes a character that passes, and goes on with the next instruction.
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
        "the pattern needs more than \(TextPattern.statesMax) states with its repetitions written "
          + "out: repeat less often, and bound the length with @length")
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
