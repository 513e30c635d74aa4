import Transport

/// An `http` or `https` URL, split into origin and target. `http+unix` names a Unix socket by its
/// percent-encoded path: `http+unix://%2Frun%2Fapi.sock/graphql`.
package struct HTTPURL: Hashable, Sendable {
  /// The reason the client cannot use a URL.
  package enum Fault: Error, Equatable, Sendable {
    case unsupportedScheme
    /// The URL contains a user name or password (RFC 9110, 4.2.4).
    case hasCredentials
    case malformedHost
    case malformedPort
    case malformedTarget
  }

  package var origin: Origin
  /// Path and query, percent-encoded, as in a request line; at least `/`.
  package var target: String

  package init(origin: Origin, target: String) {
    self.origin = origin
    self.target = target
  }

  /// Parses a URL. A fragment is dropped: it is never sent.
  package init(_ text: String) throws(Fault) {
    guard let mark = text.firstRange(of: "://") else { throw .unsupportedScheme }
    let scheme = text[..<mark.lowerBound].lowercased()
    let rest = text[mark.upperBound...].prefix { $0 != "#" }
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    let path = rest[authority.endIndex...]
    guard path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { throw .malformedTarget }
    target = path.hasPrefix("/") ? String(path) : "/\(path)"
    guard !authority.contains("@") else { throw .hasCredentials }
    switch scheme {
    case "http": origin = try Self.origin(.http, authority)
    case "https": origin = try Self.origin(.https, authority)
    case "http+unix":
      guard let path = Self.decoded(authority), path.hasPrefix("/") else { throw .malformedHost }
      origin = Origin(scheme: .http, endpoint: .unix(path: path))
    default: throw .unsupportedScheme
    }
  }

  private static func origin(
    _ scheme: Origin.Scheme, _ authority: Substring
  ) throws(Fault) -> Origin {
    let (host, port) = try split(authority)
    guard let port else {
      return Origin(scheme: scheme, endpoint: .host(host, port: scheme.defaultPort))
    }
    guard !port.isEmpty else {
      return Origin(scheme: scheme, endpoint: .host(host, port: scheme.defaultPort))
    }
    guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(port),
      number > 0
    else { throw .malformedPort }
    return Origin(scheme: scheme, endpoint: .host(host, port: number))
  }

  private static func split(
    _ authority: Substring
  ) throws(Fault) -> (host: String, port: Substring?) {
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { throw .malformedHost }
      let host = String(authority[authority.index(after: authority.startIndex)..<end])
      guard host.contains(":"), SocketAddress(numericHost: host, port: 0) != nil else {
        throw .malformedHost
      }
      let rest = authority[authority.index(after: end)...]
      guard rest.isEmpty || rest.hasPrefix(":") else { throw .malformedHost }
      return (host, rest.isEmpty ? nil : rest.dropFirst())
    }
    let parts = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let host = parts[0].lowercased()
    guard !host.isEmpty, host.utf8.allSatisfy(isHostByte) else { throw .malformedHost }
    return (host, parts.count == 2 ? parts[1] : nil)
  }

  /// Letters, digits, and the punctuation of names in use; no percent-encoded names.
  private static func isHostByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x61...0x7A, 0x30...0x39: true
    case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
    default: false
    }
  }

  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard rest.count >= 2,
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      else { return nil }
      rest = rest.dropFirst(2)
      bytes.append(value)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
