package import Cryptography
package import Model
package import Storage

/// The networks that accounts have signed in from, which are counted for themselves: strangers who
/// try passwords elsewhere cannot keep an account's owner out.
package struct KnownNetworks: Sendable {
  /// Of one account; the one that was not seen longest goes for the next.
  private static let networksMax = 16
  /// How exactly the store knows when a network was last seen.
  private static let grain = Duration.seconds(86_400)

  private let store: Store
  private let key: SymmetricKey
  private let clock: WallClock

  /// - Parameter key: turns names into digests, so that the database lists no client's addresses.
  package init(store: Store, key: SymmetricKey, clock: WallClock) {
    self.store = store
    self.key = key
    self.clock = clock
  }

  /// A store that cannot be read knows no network.
  func contains(_ account: String, _ network: ClientNetwork) async -> Bool {
    await seen(account, network) != nil
  }

  /// Remembers that the account signed in. Where the store fails the next sign-in tries again.
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
