import HTTPWire
package import Transport

/// The client of a request that came through trusted proxies.
package struct ProxiedClient: Sendable, Equatable {
  package let address: SocketAddress
  /// Whether the client uses TLS to the outermost proxy; nil if not reported.
  package let isSecure: Bool?
  /// The authority the client requested; nil if not reported.
  package let host: String?
}

extension ProxiedClient {
  /// The limit on hops followed; no deployment has more proxies.
  private static let hopsMax = 32

  /// Finds the client of a request from a trusted peer: the rightmost hop that is not a trusted proxy,
  /// since the client could have written everything to its left.
  ///
  /// If both `Forwarded` and `X-Forwarded-For` are present and disagree, the peer wrote one and passed
  /// on the client's own other one. It is unknown which, so both are ignored, like a malformed
  /// `Forwarded`.
  init(of fields: FieldSection, from peer: SocketAddress, trusts: TrustedProxies) {
    let written = XForwardedFields(fields).map { Self.follow($0.hops, from: peer, trusts: trusts) }
    guard let value = fields.joined("forwarded") else {
      self = written ?? ProxiedClient(address: peer, isSecure: nil, host: nil)
      return
    }
    let standard = ForwardedField(value).map {
      Self.follow($0.hops, from: peer, trusts: trusts)
    }
    guard let standard, written == nil || written?.address == standard.address else {
      self = ProxiedClient(address: peer, isSecure: nil, host: nil)
      return
    }
    self = ProxiedClient(
      address: standard.address, isSecure: standard.isSecure ?? written?.isSecure,
      host: standard.host ?? written?.host)
  }

  private static func follow(
    _ hops: [ForwardedHop], from peer: SocketAddress, trusts: TrustedProxies
  ) -> ProxiedClient {
    var client = ProxiedClient(address: peer, isSecure: nil, host: nil)
    for hop in hops.reversed().prefix(hopsMax) {
      client = ProxiedClient(
        address: hop.address ?? client.address, isSecure: hop.isSecure ?? client.isSecure,
        host: hop.host ?? client.host)
      guard let address = hop.address, trusts.contains(address) else { break }
    }
    return client
  }
}

/// The peers whose forwarding fields are trusted.
package struct TrustedProxies: Sendable {
  /// No trusted proxies: every peer is the client.
  package static let none = TrustedProxies(isEmpty: true) { _ in false }

  /// Whether there are none, so that no peer needs to be checked.
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
