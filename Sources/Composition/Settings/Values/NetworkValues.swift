package import HTTPClient
package import Transport

/// Where the server accepts connections: `127.0.0.1:8080`, `[::1]:8080`, `:8080` or `unix:/path`.
package enum ListenAddress: Hashable, Sendable, CustomStringConvertible {
  /// `host` is a name or a literal without brackets, nil for every interface; port 0 takes any
  /// free one.
  case tcp(host: String?, port: UInt16)
  case unix(path: String)

  /// `sun_path` holds 108 bytes on Linux, the last of them the terminating NUL.
  static let unixPathBytesMax = 107

  /// - Parameter folder: the folder that a relative socket path starts from.
  init(parsing text: String, in folder: String) throws(ValueRefusal) {
    if text.hasPrefix("unix:") {
      let path = try FolderPath.resolve(String(text.dropFirst("unix:".count)), in: folder)
      guard path.utf8.count <= Self.unixPathBytesMax else {
        throw ValueRefusal("a socket path must not exceed \(Self.unixPathBytesMax) bytes")
      }
      self = .unix(path: path)
      return
    }
    guard let colon = text.lastIndex(of: ":"),
      let port = UInt16(decimal: text[text.index(after: colon)...])
    else { throw ValueRefusal("it needs a port, as in localhost:8080") }
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
      throw ValueRefusal("the host is not valid; write an IPv6 address in brackets")
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

/// Syntax checks of host names, without a look-up.
enum HostName {
  /// Whether text is a valid host name or IPv4 address.
  static func isValid(_ text: some StringProtocol) -> Bool {
    guard !text.isEmpty, text.utf8.count <= 253 else { return false }
    return text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
      !label.isEmpty && label.utf8.count <= 63 && !label.hasPrefix("-") && !label.hasSuffix("-")
        && label.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == 0x2D || $0 == 0x5F }
    }
  }

  /// Whether text is a valid IPv6 literal, as written in the brackets of a URL or listen address.
  static func isIPv6(_ literal: String) -> Bool {
    guard case .ipv6 = SocketAddress(numericHost: literal, port: 0) else { return false }
    return true
  }
}

/// An absolute URL of a service, kept as it was written.
package struct ServiceURL: Hashable, Sendable, CustomStringConvertible {
  package let text: String
  /// Lower-case.
  package let scheme: String
  /// The URL for the HTTP client; of a WebSocket with `http` for `ws` and `https` for `wss`.
  package let http: HTTPURL

  package var description: String { text }

  init(parsing text: String, schemes: [String]) throws(ValueRefusal) {
    let scheme = text.prefix { $0 != ":" }.lowercased()
    guard schemes.contains(scheme) else {
      throw ValueRefusal(
        "it must begin with \(schemes.map { $0 + "://" }.joined(separator: " or "))")
    }
    guard !text.contains("#") else { throw ValueRefusal("it must not have a fragment") }
    let webSocketSchemes = ["ws": "http", "wss": "https"]
    let clientScheme = webSocketSchemes[scheme] ?? scheme
    do throws(HTTPURL.Fault) {
      http = try HTTPURL(clientScheme + text.dropFirst(scheme.count))
    } catch {
      throw ValueRefusal(error)
    }
    self.text = text
    self.scheme = scheme
  }
}

extension ValueRefusal {
  init(_ fault: HTTPURL.Fault) {
    switch fault {
    case .unsupportedScheme: self.init("two slashes must precede the host")
    case .hasCredentials:
      self.init("it must not contain a user name or password, which would be logged")
    case .malformedHost: self.init("it needs a host")
    case .malformedPort: self.init("its port must be 1 to 65535")
    case .malformedTarget:
      self.init("blanks, control and non-ASCII characters must be percent-encoded")
    }
  }
}

/// An allowed CORS origin, in the exact form in which browsers send it, or `*`.
package struct WebOrigin: Hashable, Sendable, CustomStringConvertible {
  package static let any = WebOrigin(description: "*")

  package let description: String

  private init(description: String) {
    self.description = description
  }

  /// Parses an origin. Lower-cases scheme and host and drops a scheme's default port, as the Fetch
  /// standard's serialisation does; otherwise a byte comparison with `Origin` would never match.
  init(parsing text: String) throws(ValueRefusal) {
    if text == "*" {
      self = .any
      return
    }
    guard let mark = text.firstRange(of: "://"), !text[..<mark.lowerBound].isEmpty,
      text[..<mark.lowerBound].utf8.allSatisfy({
        $0.isASCIIAlphanumeric || [0x2B, 0x2D, 0x2E].contains($0)
      })
    else { throw ValueRefusal() }
    let scheme = text[..<mark.lowerBound].lowercased()
    let authority = text[mark.upperBound...]
    guard !authority.contains(where: { "/?#".contains($0) }) else {
      throw ValueRefusal("an origin must end after its host and port")
    }
    // App schemes (`capacitor://localhost`) have hosts as web schemes do, and no default port.
    let clientScheme = scheme == "http" ? "http" : "https"
    do throws(HTTPURL.Fault) {
      let origin = try HTTPURL("\(clientScheme)://\(authority)").origin
      let isWeb = scheme == clientScheme
      description = "\(scheme)://\(isWeb ? origin.authority : authority.lowercased())"
    } catch {
      throw ValueRefusal(error)
    }
  }
}

/// A range of addresses in CIDR form, `10.0.0.0/8` or `fd00::/8`; a bare address is a block of one.
package struct AddressBlock: Hashable, Sendable, CustomStringConvertible {
  private let base: Bits
  package let prefixLength: Int
  package let description: String

  init(parsing text: String) throws(ValueRefusal) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let host = parts.first,
      let base = SocketAddress(numericHost: String(host), port: 0).flatMap(Bits.init)
    else { throw ValueRefusal() }
    guard let prefix = parts.count == 1 ? base.width : Int(decimal: parts[1]), prefix <= base.width
    else { throw ValueRefusal("its prefix length must be 0 to \(base.width)") }
    self.base = base
    prefixLength = prefix
    description = text
    // `10.1.2.3/8` is more often a wrong prefix than a wish for all of 10.0.0.0/8, and the block
    // decides which peers are trusted.
    guard base.keeping(prefix) == base else {
      throw ValueRefusal("no bits may be set after the first \(prefix)")
    }
  }

  /// Whether the block contains a peer's address; it never contains a Unix socket's path.
  package func contains(_ address: SocketAddress) -> Bool {
    guard let bits = Bits(address) else { return false }
    return bits.width == base.width && bits.keeping(prefixLength) == base
  }
}

extension AddressBlock {
  /// An address left-aligned in 128 bits, with the number of them that count.
  private struct Bits: Hashable {
    private let value: UInt128
    let width: Int

    init?(_ address: SocketAddress) {
      switch address {
      case .ipv4(let octets, _):
        self.init(UInt128(octets) << 96, width: 32)
      case .ipv6(0, let low, _, _) where low >> 32 == 0xFFFF:
        // RFC 4291 section 2.5.5.2: how a socket open to both families shows an IPv4 peer.
        self.init(UInt128(low & 0xFFFF_FFFF) << 96, width: 32)
      case .ipv6(let high, let low, _, _):
        self.init(UInt128(high) << 64 | UInt128(low), width: 128)
      case .unix:
        return nil
      }
    }

    private init(_ value: UInt128, width: Int) {
      self.value = value
      self.width = width
    }

    func keeping(_ count: Int) -> Bits {
      Bits((value >> (128 - count)) << (128 - count), width: width)
    }
  }
}

/// Trusted proxies: a block of addresses, or all peers of a Unix socket, which the file system
/// guards.
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
