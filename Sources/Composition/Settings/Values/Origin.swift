/// A web origin that may call from a browser, in the exact form in which browsers send it, or `*`.
package struct Origin: Hashable, Sendable, CustomStringConvertible {
  package static let any = Origin(text: "*")

  private let text: String

  package var description: String { text }

  private init(text: String) {
    self.text = text
  }

  /// Lower-cases scheme and host and drops a scheme's default port, as the Fetch standard's
  /// serialisation does; otherwise a byte comparison with the `Origin` field would never match.
  init(parsing text: String) throws(ValueRefusal) {
    if text == "*" {
      self = .any
      return
    }
    guard let (scheme, rest) = ServiceURL.splitScheme(text) else { throw ValueRefusal() }
    guard !rest.contains(where: { "/?#@".contains($0) }) else {
      throw ValueRefusal("an origin ends after its host and port")
    }
    let (host, port) = try ServiceURL.hostAndPort(rest)
    let bracketed = host.contains(":") ? "[\(host)]" : host
    switch (scheme, port) {
    case (_, nil), ("http", 80), ("https", 443): self.text = "\(scheme)://\(bracketed)"
    case (_, let port?): self.text = "\(scheme)://\(bracketed):\(port)"
    }
  }
}
