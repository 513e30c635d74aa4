/// The values of a statement's parameters.
package enum SQLArguments: Sendable {
  /// For `?`, in order.
  case positional([SQLValue])
  /// For `:name`, `@name` and `$name`, by the name alone.
  case named([String: SQLValue])
}
