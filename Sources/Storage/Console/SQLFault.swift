/// Why a statement of an operator's gave nothing.
package enum SQLFault: Error, Hashable, Sendable {
  /// SQLite does not understand it, or it failed while it ran; in SQLite's words.
  case refused(String)
  /// It writes, or reads what nobody may; in SQLite's words.
  case forbidden(String)
  /// There is none, or more than one.
  case notOneStatement
  /// Each in words.
  case arguments([String])
  /// It ran too long.
  case tooCostly
  case unavailable(StorageError)
}
