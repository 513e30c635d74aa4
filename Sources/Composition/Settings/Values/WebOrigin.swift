import HTTPClient

/// A web origin that may call from a browser, in the exact form in which browsers send it, or `*`.
package struct WebOrigin: Hashable, Sendable, CustomStringConvertible {
  package static let any = WebOrigin(description: "*")

  package let description: String

  private init(description: String) {
    self.description = description
  }

  /// Lower-cases scheme and host and drops a scheme's default port, as the Fetch standard's
  /// serialisation does; otherwise a byte comparison with the `Origin` field would never match.
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
      throw ValueRefusal("an origin ends after its host and port")
    }
    // Apps' schemes (`capacitor://localhost`) have hosts as the web's have, and no default port.
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
