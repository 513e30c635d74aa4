package import Model

/// One client, as far as the service can tell: what a caller's streams, subscriptions, lists and calls to
/// upstream count for, so that one client cannot take those of all.
///
/// Users behind one address have an owner each, an anonymous caller has its network's. A made-up
/// credential says nothing: such a caller counts for its network. With open registration anyone can
/// register devices, so an open device counts for its network too. A network is counted by its block, since
/// one customer of a provider often has all addresses of it.
///
/// An owner is not always hard to come by: with open sign-up anyone can make accounts, and an account's
/// devices count for themselves. Where an owner may have a tenth of all, as of subscriptions and
/// streams, that is bounded by the cost of accounts. Where a few owners would have everything, as of the
/// calls to upstream (``CallShares``), owners are counted within their networks: ``InNetwork``.
package enum CallerOwner: Hashable, Sendable {
  case user(String)
  case device(String)
  case admin
  /// All other callers of a ``Model/ClientNetwork/block``.
  case network(String)

  /// An owner with the network that its request came from. Addresses cannot be made up, so all owners of
  /// one network together are bounded as well as each of them.
  struct InNetwork: Hashable, Sendable {
    /// ``Model/ClientNetwork/block``.
    let network: String
    let owner: CallerOwner
  }

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
    return .network(network.block)
  }

  /// The owner of what the caller opens; nil for what the service does by itself.
  var owner: CallerOwner? {
    if let network { return owner(in: network) }
    return user.map { .user($0) }
  }

  /// The owner of the caller's calls; nil for what the service does by itself, and for queued mutations.
  var ownerInNetwork: CallerOwner.InNetwork? {
    network.map { CallerOwner.InNetwork(network: $0.block, owner: owner(in: $0)) }
  }
}
