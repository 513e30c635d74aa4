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
}
