import Model

/// The parameters of a query string as a tree by the parts of their names: `filter.year.gt=1990`.
struct ParameterTree {
  /// The full name of the first parameter.
  private(set) var firstName = ""
  private(set) var texts: [String] = []
  private(set) var children: [Child] = []

  struct Child {
    let name: String
    var node: ParameterTree
  }

  /// Deeper input objects must be given as one JSON value.
  static let depthMax = 16

  mutating func add(_ parameter: VariableInput.Parameter) {
    let parts = parameter.name.split(
      separator: ".", maxSplits: Self.depthMax, omittingEmptySubsequences: false)
    add(parameter, parts: parts[...])
  }

  private mutating func add(_ parameter: VariableInput.Parameter, parts: ArraySlice<Substring>) {
    if firstName.isEmpty { firstName = parameter.name }
    guard let part = parts.first else {
      texts.append(parameter.value)
      return
    }
    let name = String(part)
    let index: Int
    if let known = children.firstIndex(where: { $0.name == name }) {
      index = known
    } else {
      index = children.count
      children.append(Child(name: name, node: ParameterTree()))
    }
    children[index].node.add(parameter, parts: parts.dropFirst())
  }
}
