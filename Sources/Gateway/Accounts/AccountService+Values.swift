import Accounts
package import Model

/// Sign-up policy and the limits on password attempts.
package struct AccountRules: Sendable {
  /// Whether anyone can sign up; otherwise only the operator can create accounts.
  package var isSignUpOpen: Bool
  /// Maximum wrong passwords per minute for one account: counted separately for each network the
  /// account has signed in from, and together for all other networks.
  package var triesPerMinute: Int
  /// Maximum counted calls per minute from one network; a network can serve many users.
  package var callsPerMinute: Int

  package init(isSignUpOpen: Bool, triesPerMinute: Int, callsPerMinute: Int) {
    self.isSignUpOpen = isSignUpOpen
    self.triesPerMinute = triesPerMinute
    self.callsPerMinute = callsPerMinute
  }
}

/// The parts of an account request that are not in its body.
package struct AccountCall: Sendable {
  /// The client's address; nil if unknown.
  let address: String?
  /// The network that rate limits are counted for.
  let network: ClientNetwork
  /// The value of `Device-Token`, not verified yet.
  let deviceToken: String?

  package init(address: String?, network: ClientNetwork, deviceToken: String?) {
    self.address = address
    self.network = network
    self.deviceToken = deviceToken
  }

  /// - Parameter isKnown: whether the account has signed in from this network before.
  func origin(isKnown: Bool = false) -> ClientOrigin {
    ClientOrigin(address: address, network: network, isKnown: isKnown)
  }
}

/// The session returned to a client that signs in.
package struct SignedIn: Sendable {
  package let accessToken: String
  package let refreshToken: String
  package let expiresIn: Duration
  package let user: String

  init(_ session: AccountSession) {
    accessToken = session.accessToken
    refreshToken = session.refreshToken
    expiresIn = session.lifetime
    user = session.user
  }
}

/// A sign-out on a device, after which the device's data of that user may have to be removed.
///
/// The device remains the user's: another user of the same phone registers a separate device.
package struct SignedOut: Hashable, Sendable {
  package let user: String
  package let device: String

  package init(user: String, device: String) {
    self.user = user
    self.device = device
  }
}
