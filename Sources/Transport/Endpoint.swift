/// An endpoint to connect to or listen on, before its name is looked up.
package enum Endpoint: Hashable, Sendable, CustomStringConvertible {
  /// A name or a numeric address, without brackets.
  case host(String, port: UInt16)
  case unix(path: String)

  package var description: String {
    switch self {
    case .host(let host, let port) where host.contains(":"): "[\(host)]:\(port)"
    case .host(let host, let port): "\(host):\(port)"
    case .unix(let path): "unix:\(path)"
    }
  }
}
