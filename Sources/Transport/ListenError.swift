/// Why listening could not begin.
package enum ListenError: Error, Equatable, Sendable {
  /// Another process (or another listener of this one) has the address.
  case addressInUse(String)
  /// The address is not one of this machine's.
  case addressNotAvailable(String)
  /// A privileged port, or a directory we may not write.
  case notPermitted(String)
  case unresolved(String)
  case failed(SystemError)
}
