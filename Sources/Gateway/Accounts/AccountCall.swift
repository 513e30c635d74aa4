import Accounts
package import Model

/// What matters of a request to the account routes beside its body.
package struct AccountCall: Sendable {
  /// The client's address; nil where there is none.
  let address: String?
  /// What attempts are counted by.
  let network: ClientNetwork
  /// In `Device-Token`, not looked at yet.
  let deviceToken: String?

  package init(address: String?, network: ClientNetwork, deviceToken: String?) {
    self.address = address
    self.network = network
    self.deviceToken = deviceToken
  }

  /// - Parameter isKnown: whether the account asked for has signed in from this network before.
  func origin(isKnown: Bool = false) -> ClientOrigin {
    ClientOrigin(address: address, network: network, isKnown: isKnown)
  }
}
