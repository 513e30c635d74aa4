import Transport

extension ServerRequest {
  /// The client's address in digits; nil over a Unix socket, which has none.
  package var clientHost: String? {
    if case .unix = clientAddress { nil } else { clientAddress.host }
  }

  /// Who asks, for counting: an address, or of IPv6 the network of 64 bits, since whoever has one
  /// address of it has all of them.
  package var clientNetwork: String {
    guard case .ipv6(let network, let low, _, _) = clientAddress,
      network != 0 || low >> 32 != 0xFFFF
    else { return clientAddress.host }
    return SocketAddress.ipv6(network, 0, port: 0, zone: 0).host
  }
}
