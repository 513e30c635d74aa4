package import Model

/// One statement of an operator's, with its bounds.
package struct SQLQuestion: Sendable {
  package let sql: String
  package let arguments: SQLArguments
  package let rowsMax: Int
  /// Of texts and blobs in all rows.
  package let bytesMax: Int
  /// Asked now and then while the statement runs; false ends it.
  package let mayGoOn: @Sendable () -> Bool

  package init(
    sql: String, arguments: SQLArguments, rowsMax: Int, bytesMax: Int,
    mayGoOn: @escaping @Sendable () -> Bool
  ) {
    self.sql = sql
    self.arguments = arguments
    self.rowsMax = rowsMax
    self.bytesMax = bytesMax
    self.mayGoOn = mayGoOn
  }
}
