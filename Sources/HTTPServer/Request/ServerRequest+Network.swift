import Transport

extension ServerRequest {
  /// The client's address in digits; nil over a Unix socket, which has none.
  package var clientHost: String? {
    if case .unix = clientAddress { nil } else { clientAddress.host }
  }

  /// Who asks, for counting: an address, or of IPv6 the network of 64 bits, since whoever has one
  /// address of it has all of them.
  package var clientNetwork: String {
    guard let network = sixthVersionNetwork else { return clientAddress.host }
    return SocketAddress.ipv6(network, 0, port: 0, zone: 0).host
  }

  /// The address, or of IPv6 the network of 48 bits, which providers give to one customer.
  package var clientNetworkBlock: String {
    guard let network = sixthVersionNetwork else { return clientAddress.host }
    return SocketAddress.ipv6(network & ~0xFFFF, 0, port: 0, zone: 0).host + "/48"
  }

  /// The upper half of an IPv6 address; nil of an IPv4 one, also where it came over a socket that is
  /// open to both families (RFC 4291 section 2.5.5.2).
  private var sixthVersionNetwork: UInt64? {
    guard case .ipv6(let network, let low, _, _) = clientAddress,
      network != 0 || low >> 32 != 0xFFFF
    else { return nil }
    return network
  }
}
