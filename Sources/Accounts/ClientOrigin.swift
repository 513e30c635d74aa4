package import Model

/// Where a request came from.
package struct ClientOrigin: Hashable, Sendable {
  /// The client's address as this service itself has seen it, or as a trusted proxy told; nil where
  /// it is not known, as over a Unix socket.
  package let address: String?
  /// What its share of costly work is counted by.
  package let network: ClientNetwork
  /// Whether the account that it asks for has signed in from this network before.
  package let isKnown: Bool

  package init(address: String?, network: ClientNetwork, isKnown: Bool = false) {
    self.address = address
    self.network = network
    self.isKnown = isKnown
  }
}
