package import Transport

/// Peers that are proxies of ours: a block of addresses, or whoever reaches a Unix socket, which
/// the file system guards.
package enum ProxyPeers: Hashable, Sendable, CustomStringConvertible {
  case block(AddressBlock)
  case unixSockets

  init(parsing text: String) throws(ValueRefusal) {
    self = text == "unix" ? .unixSockets : .block(try AddressBlock(parsing: text))
  }

  package func contains(_ address: SocketAddress) -> Bool {
    switch (self, address) {
    case (.unixSockets, .unix): true
    case (.unixSockets, _): false
    case (.block(let block), _): block.contains(address)
    }
  }

  package var description: String {
    switch self {
    case .block(let block): block.description
    case .unixSockets: "unix"
    }
  }
}
