package import Transport

/// The origin of a URL, whose requests can share connections: scheme, host and port, or a Unix socket.
package struct Origin: Hashable, Sendable {
  package enum Scheme: String, Sendable {
    case http
    case https

    package var defaultPort: UInt16 { self == .http ? 80 : 443 }
  }

  package let scheme: Scheme
  package let endpoint: Endpoint

  package init(scheme: Scheme, endpoint: Endpoint) {
    self.scheme = scheme
    self.endpoint = endpoint
  }

  /// The value of `Host`; without the port if it is the scheme's default (RFC 9110, 7.2).
  package var authority: String {
    switch endpoint {
    case .unix:
      return "localhost"
    case .host(let host, let port):
      let name = host.contains(":") ? "[\(host)]" : host
      return port == scheme.defaultPort ? name : "\(name):\(port)"
    }
  }
}

extension Origin: CustomStringConvertible {
  package var description: String { "\(scheme.rawValue)://\(endpoint)" }
}
