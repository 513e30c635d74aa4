/// The identity of a stored result.
package struct ResultKey: Hashable, Sendable {
  package let operation: String
  /// The coerced variables as canonical JSON: defaults applied, keys sorted.
  package let variables: String
  package let scope: Scope

  package init(operation: String, variables: String, scope: Scope) {
    self.operation = operation
    self.variables = variables
    self.scope = scope
  }

  /// Other bytes are another question to upstream, however alike they look.
  package static func == (left: ResultKey, right: ResultKey) -> Bool {
    left.variables.equalsExactly(right.variables) && left.operation.equalsExactly(right.operation)
      && left.scope == right.scope
  }

  package func hash(into hasher: inout Hasher) {
    operation.hashExactly(into: &hasher)
    variables.hashExactly(into: &hasher)
    hasher.combine(scope)
  }
}
