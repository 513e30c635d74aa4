import Transport

/// The letters of a host, without a look-up.
enum HostName {
  /// A name, or an IPv4 address.
  static func isValid(_ text: some StringProtocol) -> Bool {
    guard !text.isEmpty, text.utf8.count <= 253 else { return false }
    return text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
      !label.isEmpty && label.utf8.count <= 63 && !label.hasPrefix("-") && !label.hasSuffix("-")
        && label.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == 0x2D || $0 == 0x5F }
    }
  }

  /// What stands between the brackets of a URL or an address to listen on.
  static func isIPv6(_ literal: String) -> Bool {
    guard case .ipv6 = SocketAddress(numericHost: literal, port: 0) else { return false }
    return true
  }
}
