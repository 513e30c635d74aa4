package import Cryptography
package import Model
package import Storage

/// The networks that accounts have signed in from. Each has its own rate limit, so password
/// attempts from other networks cannot lock out an account's owner.
package struct KnownNetworks: Sendable {
  /// Maximum networks of one account; beyond it, the one not seen for the longest time is removed.
  private static let networksMax = 16
  /// The resolution of the stored time of last use.
  private static let grain = Duration.seconds(86_400)

  private let store: Store
  private let key: SymmetricKey
  private let clock: WallClock

  /// - Parameter key: hashes account and network names, so that the database contains no client
  ///   addresses.
  package init(store: Store, key: SymmetricKey, clock: WallClock) {
    self.store = store
    self.key = key
    self.clock = clock
  }

  /// Whether the account has signed in from the network; false if the store cannot be read.
  func contains(_ account: String, _ network: ClientNetwork) async -> Bool {
    await seen(account, network) != nil
  }

  /// Records a sign-in. If the store fails, the next sign-in tries again.
  func note(_ account: String, _ network: ClientNetwork) async {
    let now = clock.now()
    if let seen = await seen(account, network), seen.elapsed(until: now) < Self.grain { return }
    let (account, network) = digests(account, network)
    try? await store.note(
      account: account, network: network, at: now, networksMax: Self.networksMax)
  }

  private func seen(_ account: String, _ network: ClientNetwork) async -> Timestamp? {
    let (account, network) = digests(account, network)
    return try? await store.seen(account: account, network: network)
  }

  private func digests(_ account: String, _ network: ClientNetwork) -> (String, String) {
    (digest("account", account), digest("network", "\(account)\n\(network.name)"))
  }

  private func digest(_ kind: String, _ text: String) -> String {
    Base64URL.encode(
      HMAC<SHA256>.authenticationCode(for: Array("\(kind):\(text)".utf8), using: key))
  }
}
