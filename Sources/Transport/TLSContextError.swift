/// Why certificates or keys could not be used.
package enum TLSContextError: Error, Equatable, Sendable {
  case certificateUnreadable(path: String, reason: String)
  case keyUnreadable(path: String, reason: String)
  /// The key is not the certificate's.
  case keyMismatch(path: String)
  case trustUnreadable(path: String?, reason: String)
  case outOfMemory
}
