/// What a statement of an operator's gave.
package struct SQLResult: Sendable {
  package let columns: [String]
  package let rows: [[SQLValue]]
  /// There were more rows than asked for, or larger ones.
  package let isTruncated: Bool

  package init(columns: [String], rows: [[SQLValue]], isTruncated: Bool) {
    self.columns = columns
    self.rows = rows
    self.isTruncated = isTruncated
  }
}
