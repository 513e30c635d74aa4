import Transport

/// Addresses that may stand for many clients although nobody said that they are proxies: those of
/// this machine, and of private networks, where a container's or a cluster's address translation
/// puts its own in place of the client's.
enum SharedAddresses {
  /// RFC 1122 section 3.2.1.3, RFC 1918, RFC 3927, RFC 6598; RFC 4291 section 2.5.3 and 2.5.6,
  /// RFC 4193.
  private static let blocks: [AddressBlock] = [
    "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16",
    "100.64.0.0/10", "::1/128", "fe80::/10", "fc00::/7",
  ].compactMap { try? AddressBlock(parsing: $0) }

  static func contain(_ address: SocketAddress) -> Bool {
    if case .unix = address { return true }
    return blocks.contains { $0.contains(address) }
  }
}
