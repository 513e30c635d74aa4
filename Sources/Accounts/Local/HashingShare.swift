package import Model

/// For whom a password is hashed: what the hasher's places are shared by.
package struct HashingShare: Hashable, Sendable {
  let network: ClientNetwork
  /// An account, or an account at one of the networks that it has signed in from.
  let account: String

  package init(network: ClientNetwork, account: String) {
    self.network = network
    self.account = account
  }

  /// A network that the account has signed in from has places of its own: other networks that try
  /// the same account leave it room.
  init(account: String, from client: ClientOrigin) {
    self.init(
      network: client.network,
      account: client.isKnown ? "\(account) from \(client.network.name)" : account)
  }
}
