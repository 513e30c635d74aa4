/// Where in a variable or an argument a value stands: `$filter.year.gt`, `$ids[2]`.
package struct InputPath: Hashable, Sendable, CustomStringConvertible {
  package enum Step: Hashable, Sendable {
    case field(String)
    case index(Int)
  }

  /// The variable's name with its dollar sign, or the argument's name.
  package let root: String
  package let steps: [Step]

  package init(_ root: String, steps: [Step] = []) {
    self.root = root
    self.steps = steps
  }

  package static func variable(_ name: String) -> InputPath { InputPath("$" + name) }

  package func appending(_ step: Step) -> InputPath {
    InputPath(root, steps: steps + [step])
  }

  package var description: String {
    steps.reduce(into: root) { text, step in
      switch step {
      case .field(let name): text += "." + name
      case .index(let index): text += "[\(index)]"
      }
    }
  }
}
