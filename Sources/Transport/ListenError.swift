/// Why listening could not begin.
package enum ListenError: Error, Equatable, Sendable {
  /// Another process (or another listener of this one) has the address.
  case addressInUse(String)
  /// The address is not one of this machine's.
  case addressNotAvailable(String)
  /// A privileged port, or a folder we may not write.
  case notPermitted(String)
  case unresolved(String)
  case failed(String, SystemError)
}

extension ListenError: CustomStringConvertible {
  /// For whoever starts the service.
  package var description: String {
    switch self {
    case .addressInUse(let address): "\(address) is in use by another process"
    case .addressNotAvailable(let address): "\(address) is not an address of this machine"
    case .notPermitted(let address): "\(address) may not be listened on by this user"
    case .unresolved(let host): "\(host) has no address"
    case .failed(let address, let error): "\(address): \(error)"
    }
  }
}
