/// Why a client's cursor cannot be continued.
package enum CursorFault: Error, Hashable, Sendable {
  /// Why the log cannot go on where the cursor ended: begin anew.
  package enum Reason: String, Hashable, Sendable {
    /// Deletions behind it have been forgotten.
    case expired
    /// It is of a database that has been replaced, or of commits that were lost.
    case segment
    /// What a change shows has another form since.
    case schema
    /// The same caller sees more, or less, than then.
    case scope
  }

  /// Not a cursor of this service.
  case malformed
  case otherFilter
  case otherCaller
  case gone(Reason)
}
