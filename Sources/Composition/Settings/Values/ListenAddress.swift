/// Where the server accepts connections: `127.0.0.1:8080`, `[::1]:8080`, `:8080` or `unix:/path`.
package enum ListenAddress: Hashable, Sendable, CustomStringConvertible {
  /// `host` is a name or a literal without brackets, nil for every interface; port 0 takes any
  /// free one.
  case tcp(host: String?, port: UInt16)
  case unix(path: String)

  /// `sun_path` holds 108 bytes on Linux, the last of them the terminating NUL.
  static let unixPathBytesMax = 107

  /// - Parameter folder: what a relative socket path is relative to.
  init(parsing text: String, in folder: String) throws(ValueRefusal) {
    if text.hasPrefix("unix:") {
      let path = try FolderPath.resolve(String(text.dropFirst("unix:".count)), in: folder)
      guard path.utf8.count <= Self.unixPathBytesMax else {
        throw ValueRefusal("a socket path has at most \(Self.unixPathBytesMax) bytes")
      }
      self = .unix(path: path)
      return
    }
    guard let colon = text.lastIndex(of: ":"),
      let port = UInt16(decimal: text[text.index(after: colon)...])
    else { throw ValueRefusal("it needs a port") }
    let host = text[..<colon]
    if host.isEmpty {
      self = .tcp(host: nil, port: port)
    } else if host.hasPrefix("["), host.hasSuffix("]"),
      case let literal = String(host.dropFirst().dropLast()), HostName.isIPv6(literal)
    {
      self = .tcp(host: literal, port: port)
    } else if HostName.isValid(host) {
      self = .tcp(host: String(host), port: port)
    } else {
      throw ValueRefusal("an IPv6 address stands in brackets")
    }
  }

  package var description: String {
    switch self {
    case .unix(let path): "unix:\(path)"
    case .tcp(nil, let port): ":\(port)"
    case .tcp(let host?, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
  }
}
