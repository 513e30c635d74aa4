import HTTPWire
package import Transport

/// Who really asks, behind proxies whose word is believed.
package struct ProxiedClient: Sendable, Equatable {
  package let address: SocketAddress
  /// Whether the client speaks TLS to the outermost proxy; nil where none tells.
  package let isSecure: Bool?
  /// The authority the client asked for; nil where none tells.
  package let host: String?
}

extension ProxiedClient {
  /// Steps that are followed. More proxies of one's own nobody has.
  private static let hopsMax = 32

  /// Finds the client of a request that a trusted peer sent: the rightmost step that no trusted
  /// proxy took, since whatever stands left of it the client may have written itself.
  ///
  /// Where both `Forwarded` and `X-Forwarded-For` are there and disagree, the peer wrote one and
  /// let the client's own other one pass. Nobody knows which, so neither is believed, as with a
  /// `Forwarded` that cannot be read.
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
