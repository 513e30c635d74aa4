package import Transport

/// The peers whose word about the client is believed.
package struct TrustedProxies: Sendable {
  /// Nobody: every peer is the client.
  package static let none = TrustedProxies(isEmpty: true) { _ in false }

  /// Whether there are none, so that nothing needs looking at.
  let isEmpty: Bool
  private let trusts: @Sendable (SocketAddress) -> Bool

  package init(_ trusts: @escaping @Sendable (SocketAddress) -> Bool) {
    self.init(isEmpty: false, trusts)
  }

  private init(isEmpty: Bool, _ trusts: @escaping @Sendable (SocketAddress) -> Bool) {
    self.isEmpty = isEmpty
    self.trusts = trusts
  }

  package func contains(_ peer: SocketAddress) -> Bool { !isEmpty && trusts(peer) }
}
