package import Model

/// Everything wrong with the variables of one call; never empty.
package struct VariableFaults: Error, Hashable, Sendable {
  /// Each by the parameter or JSON pointer it stands at.
  package let all: [Failure.Detail]

  package init(_ all: [Failure.Detail]) {
    self.all = all
  }
}
