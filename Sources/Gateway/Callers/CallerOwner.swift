package import Model

/// What a caller's streams and subscriptions count for, so that one client cannot take those of all.
///
/// A made-up credential says nothing: such a caller counts for its network, like an anonymous one. With
/// open registration anyone can register devices, so an open device counts for its network too.
package enum CallerOwner: Hashable, Sendable {
  case user(String)
  case device(String)
  case admin
  case network(ClientNetwork)

  /// Whether many strangers share it.
  var isNetwork: Bool {
    if case .network = self { true } else { false }
  }
}

extension Caller {
  /// - Parameter network: the owner for callers without a registered device and a verified user.
  package func owner(in network: ClientNetwork) -> CallerOwner {
    if let user { return .user(user) }
    if isAdmin { return .admin }
    if let device, !isOpenDevice { return .device(device.id) }
    return .network(network)
  }

  /// The owner of what the caller opens; nil for what the service does by itself.
  var owner: CallerOwner? {
    if let network { return owner(in: network) }
    return user.map { .user($0) }
  }
}
