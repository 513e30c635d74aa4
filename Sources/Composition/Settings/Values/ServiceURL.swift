package import HTTPClient

/// An absolute address of a service, kept as it was written.
package struct ServiceURL: Hashable, Sendable, CustomStringConvertible {
  package let text: String
  /// Lower-case.
  package let scheme: String
  /// The address in the client's terms; a WebSocket's with `http` for `ws`, `https` for `wss`.
  package let http: HTTPURL

  package var description: String { text }

  init(parsing text: String, schemes: [String]) throws(ValueRefusal) {
    let scheme = text.prefix { $0 != ":" }.lowercased()
    guard schemes.contains(scheme) else {
      throw ValueRefusal("it begins with \(schemes.map { $0 + "://" }.joined(separator: " or "))")
    }
    guard !text.contains("#") else { throw ValueRefusal("a fragment is never sent") }
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
    case .unsupportedScheme: self.init("two slashes stand before the host")
    case .hasCredentials: self.init("a name and password in it would be logged")
    case .malformedHost: self.init("it needs a host")
    case .malformedPort: self.init("its port is 1 to 65535")
    case .malformedTarget:
      self.init("blanks, control and non-ASCII characters are percent-encoded")
    }
  }
}
