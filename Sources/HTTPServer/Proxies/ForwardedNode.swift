import HTTPWire
import Transport

/// Parser for a peer as proxies write it (RFC 7239 6): an address with an optional port, `unknown`, or
/// an obfuscated identifier.
enum ForwardedNode {
  /// The longest: an IPv6 address with an IPv4 tail in brackets, and a port.
  private static let bytesMax = 64

  /// Returns the address, without its port; nil for anything else.
  ///
  /// - Parameter allowsBareIPv6: whether IPv6 addresses can lack brackets, as in `X-Forwarded-For`.
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

  /// Returns whether the text is empty, or a colon and a port, which can be an obfuscated name that
  /// begins with `_`.
  private static func isPort(_ text: Substring) -> Bool {
    guard let first = text.utf8.first else { return true }
    let port = text.utf8.dropFirst()
    guard first == UInt8(ascii: ":"), let start = port.first else { return false }
    if start == UInt8(ascii: "_") { return port.count > 1 }
    return port.count <= 5 && port.allSatisfy { (0x30...0x39).contains($0) }
  }
}

/// Validation of the authority that a proxy reports, since it becomes part of URLs in responses.
enum ForwardedHost {
  /// The longest name (RFC 1035 2.3.4) and a port.
  private static let bytesMax = 255 + 6

  /// Returns the text if it is a host with an optional port; otherwise nil.
  static func checked(_ text: String) -> String? {
    let isHost = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
        UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
        true
      default:
        false
      }
    }
    return isHost && !text.isEmpty && text.utf8.count <= bytesMax ? text : nil
  }
}

/// Parser for the scheme that a proxy reports.
enum ForwardedScheme {
  /// Returns whether the scheme is `https`; nil for any but `http` and `https`.
  static func isSecure(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "https": true
    case "http": false
    default: nil
    }
  }
}
