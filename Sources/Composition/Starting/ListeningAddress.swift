import Transport

/// A listening socket as an address to call.
enum ListeningAddress {
  static func text(_ address: SocketAddress, scheme: String) -> String {
    guard let port = address.port else { return "unix:\(address.host)" }
    let host = address.host
    return "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
  }
}
