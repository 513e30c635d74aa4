/// Why a connection could not be made.
package enum ConnectFailure: Error, Equatable, Sendable {
  /// The name has no address, or the look-up failed; the text is the resolver's.
  case unresolved(String)
  /// Every address was tried; the error is the last one's.
  case refused(SystemError)
  case deadlineExceeded
}
