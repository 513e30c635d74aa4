/// The result of an operator's SQL statement.
package struct SQLResult: Sendable {
  package let columns: [String]
  package let rows: [[SQLValue]]
  /// Whether rows were left out: there were more than requested, or they were too large.
  package let isTruncated: Bool

  package init(columns: [String], rows: [[SQLValue]], isTruncated: Bool) {
    self.columns = columns
    self.rows = rows
    self.isTruncated = isTruncated
  }
}

/// The values of a statement's parameters.
package enum SQLArguments: Sendable {
  /// For `?`, in order.
  case positional([SQLValue])
  /// For `:name`, `@name` and `$name`, by the name alone.
  case named([String: SQLValue])
}

/// An SQLite value, independent of its database.
package enum SQLValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])
}
