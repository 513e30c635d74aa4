/// An absolute address of a service, checked but kept as it was written.
package struct ServiceURL: Hashable, Sendable, CustomStringConvertible {
  package let text: String
  /// Lower-case.
  package let scheme: String
  /// Lower-case; an IPv6 literal stands without its brackets.
  package let host: String
  package let port: UInt16?
  /// Path and query, `/` at least.
  package let target: String

  package var description: String { text }

  /// - Throws: with the value withheld when it carries a password.
  init(parsing text: String, schemes: [String]) throws(ValueRefusal) {
    guard let (scheme, rest) = Self.splitScheme(text), schemes.contains(scheme) else {
      throw ValueRefusal("it begins with \(schemes.map { $0 + "://" }.joined(separator: " or "))")
    }
    guard !text.contains("#") else { throw ValueRefusal("a fragment is never sent") }
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw ValueRefusal("blanks, control and non-ASCII characters are percent-encoded")
    }
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    guard !authority.contains("@") else {
      throw ValueRefusal("a name and password in it would be logged", hidesValue: true)
    }
    let (host, port) = try Self.hostAndPort(authority)
    let target = rest[authority.endIndex...]
    self.text = text
    self.scheme = scheme
    self.host = host
    self.port = port
    self.target = target.hasPrefix("/") ? String(target) : "/" + target
  }

  static func splitScheme(_ text: String) -> (scheme: String, rest: Substring)? {
    guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { return nil }
    let scheme = text[..<colon]
    guard scheme.utf8.first?.isASCIIAlphanumeric == true,
      scheme.utf8.allSatisfy({ $0.isASCIIAlphanumeric || [0x2B, 0x2D, 0x2E].contains($0) })
    else { return nil }
    return (scheme.lowercased(), text[text.index(colon, offsetBy: 3)...])
  }

  static func hostAndPort(
    _ authority: Substring
  ) throws(ValueRefusal) -> (host: String, port: UInt16?) {
    var host = authority
    var port: UInt16?
    if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
      guard let number = UInt16(decimal: authority[authority.index(after: colon)...]), number > 0
      else { throw ValueRefusal("its port is 1 to 65535") }
      host = authority[..<colon]
      port = number
    }
    if host.hasPrefix("["), host.hasSuffix("]") {
      let literal = String(host.dropFirst().dropLast())
      guard HostName.isIPv6(literal) else { throw ValueRefusal("that is no IPv6 address") }
      return (literal.lowercased(), port)
    }
    guard HostName.isValid(host) else { throw ValueRefusal("it needs a host") }
    return (host.lowercased(), port)
  }
}
