import HTTPWire
import Transport

/// A peer as proxies write it (RFC 7239 6): an address, perhaps with a port, `unknown`, or a name of
/// the proxy's own.
enum ForwardedNode {
  /// The longest: an IPv6 address with an IPv4 tail in brackets, and a port.
  private static let bytesMax = 64

  /// The address, without its port; nil for what is none.
  ///
  /// - Parameter allowsBareIPv6: `X-Forwarded-For` is written without brackets too.
  static func address(_ text: String, allowsBareIPv6: Bool) -> SocketAddress? {
    guard text.utf8.count <= bytesMax else { return nil }
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]"), isPort(text[text.index(after: end)...]) else {
        return nil
      }
      let host = text[text.index(after: text.startIndex)..<end]
      guard host.contains(":") else { return nil }
      return SocketAddress(numericHost: String(host), port: 0)
    }
    guard let colon = text.firstIndex(of: ":") else {
      return SocketAddress(numericHost: text, port: 0)
    }
    if text[text.index(after: colon)...].contains(":") {
      return allowsBareIPv6 ? SocketAddress(numericHost: text, port: 0) : nil
    }
    guard isPort(text[colon...]) else { return nil }
    return SocketAddress(numericHost: String(text[..<colon]), port: 0)
  }

  /// Nothing, or a colon and a port, which may be a name that begins with `_`.
  private static func isPort(_ text: Substring) -> Bool {
    guard let first = text.utf8.first else { return true }
    let port = text.utf8.dropFirst()
    guard first == UInt8(ascii: ":"), let start = port.first else { return false }
    if start == UInt8(ascii: "_") { return port.count > 1 }
    return port.count <= 5 && port.allSatisfy { (0x30...0x39).contains($0) }
  }
}
