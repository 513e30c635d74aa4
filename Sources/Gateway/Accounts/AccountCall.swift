import Accounts

/// What matters of a request to the account routes beside its body.
package struct AccountCall: Sendable {
  /// The client's address; nil where there is none.
  let address: String?
  /// What attempts are counted by: the address, or of IPv6 its network.
  let network: String
  /// In `Device-Token`, not looked at yet.
  let deviceToken: String?

  package init(address: String?, network: String, deviceToken: String?) {
    self.address = address
    self.network = network
    self.deviceToken = deviceToken
  }

  var origin: ClientOrigin { ClientOrigin(address: address) }
}
