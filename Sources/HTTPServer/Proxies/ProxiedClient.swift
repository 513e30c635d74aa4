import HTTPWire
package import Transport

/// The client of a request that came through trusted proxies, or another node of the cluster.
package struct ProxiedClient: Sendable, Equatable {
  package let address: SocketAddress
  /// Whether the client uses TLS to the outermost proxy; nil if not reported.
  package let isSecure: Bool?
  /// The authority the client requested; nil if not reported.
  package let host: String?

  package init(address: SocketAddress, isSecure: Bool?, host: String?) {
    self.address = address
    self.isSecure = isSecure
    self.host = host
  }
}

extension ProxiedClient {
  /// - Parameter numericAddress: an IPv4 or IPv6 address; nil for a client of a Unix socket.
  package init?(numericAddress: String?, isSecure: Bool, host: String?) {
    var address = SocketAddress.unix(path: "")
    if let numericAddress {
      guard let parsed = SocketAddress(numericHost: numericAddress, port: 0) else { return nil }
      address = parsed
    }
    self.init(address: address, isSecure: isSecure, host: host)
  }
}

/// Where a request came from, if its peer is not simply the client.
struct RequestOrigin {
  /// Nil if the peer is the client.
  var client: ProxiedClient?
  /// Nil for a request that no node forwarded.
  var node: NodeVerdict?

  /// Whether the node that the request reached first has counted it against the rate limit.
  var isCounted: Bool { isOfNode }

  /// Whether another node of the cluster forwarded the request.
  var isOfNode: Bool {
    if case .accepted = node { true } else { false }
  }

  /// Whether the content is the whole one that another node has read and signed.
  var hasWholeContent: Bool {
    if case .accepted(let call, _) = node, case .digest = call.content { true } else { false }
  }
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
