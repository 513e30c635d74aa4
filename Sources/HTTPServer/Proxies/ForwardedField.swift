import HTTPWire
package import Transport

/// The value of `Forwarded` (RFC 7239 4): the request's hops, the client first.
package struct ForwardedField: Sendable, Equatable {
  package let hops: [ForwardedHop]

  /// Parses a value, with all its lines joined; nil if it breaks the grammar, since it is then unknown
  /// which elements a trusted proxy wrote.
  package init?(_ bytes: ArraySlice<UInt8>) {
    var reader = Reader(rest: bytes)
    guard let hops = reader.hops() else { return nil }
    self.hops = hops
  }

  /// A parser of a value, front to back.
  private struct Reader {
    var rest: ArraySlice<UInt8>

    mutating func hops() -> [ForwardedHop]? {
      var hops: [ForwardedHop] = []
      while true {
        skipBlanks()
        // A list can have empty elements (RFC 9110 5.6.1).
        if rest.isEmpty { return hops }
        if take(UInt8(ascii: ",")) { continue }
        guard let hop = hop() else { return nil }
        hops.append(hop)
        skipBlanks()
        guard rest.isEmpty || take(UInt8(ascii: ",")) else { return nil }
      }
    }

    private mutating func hop() -> ForwardedHop? {
      var hop = ForwardedHop()
      var names: Set<String> = []
      repeat {
        skipBlanks()
        if rest.first == UInt8(ascii: ";") { continue }
        guard rest.first?.isTokenByte ?? false else { break }
        guard let name = token()?.lowercased(), take(UInt8(ascii: "=")), let value = value(),
          names.insert(name).inserted
        else { return nil }
        switch name {
        case "for": hop.address = ForwardedNode.address(value, allowsBareIPv6: false)
        case "proto": hop.isSecure = ForwardedScheme.isSecure(value)
        case "host": hop.host = ForwardedHost.checked(value)
        default: break
        }
        skipBlanks()
      } while take(UInt8(ascii: ";"))
      return names.isEmpty ? nil : hop
    }

    private mutating func value() -> String? {
      rest.first == UInt8(ascii: "\"") ? quoted() : token()
    }

    private mutating func token() -> String? {
      let token = rest.prefix(while: \.isTokenByte)
      guard !token.isEmpty else { return nil }
      rest = rest[token.endIndex...]
      return token.text
    }

    private mutating func quoted() -> String? {
      var text: [UInt8] = []
      rest = rest.dropFirst()
      while let byte = rest.popFirst() {
        switch byte {
        case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
        case UInt8(ascii: "\\"):
          guard let escaped = rest.popFirst() else { return nil }
          text.append(escaped)
        default: text.append(byte)
        }
      }
      return nil
    }

    private mutating func take(_ byte: UInt8) -> Bool {
      guard rest.first == byte else { return false }
      rest = rest.dropFirst()
      return true
    }

    private mutating func skipBlanks() {
      rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
    }
  }
}

/// One hop of a request, as reported by the proxy that received it.
package struct ForwardedHop: Sendable, Equatable {
  /// The sender; nil if the proxy does not report it or obfuscates it.
  package var address: SocketAddress?
  /// Whether it came over TLS; nil if not reported.
  package var isSecure: Bool?
  /// The requested authority; nil if not reported.
  package var host: String?
}

/// `X-Forwarded-For`, `-Proto` and `-Host`, which most proxies write in place of `Forwarded`.
struct XForwardedFields {
  let hops: [ForwardedHop]

  /// Parses the fields; nil without `X-Forwarded-For`.
  init?(_ fields: FieldSection) {
    guard let addresses = fields.joined("x-forwarded-for") else { return nil }
    let nodes = Self.elements(addresses)
    let schemes = fields.joined("x-forwarded-proto").map(Self.elements) ?? []
    let hosts = fields.joined("x-forwarded-host").map(Self.elements) ?? []
    hops = nodes.enumerated().map { index, node in
      let fromEnd = nodes.count - index
      return ForwardedHop(
        address: ForwardedNode.address(node, allowsBareIPv6: true),
        isSecure: Self.element(schemes, fromEnd: fromEnd).flatMap(ForwardedScheme.isSecure),
        host: Self.element(hosts, fromEnd: fromEnd).flatMap(ForwardedHost.checked))
    }
  }

  /// Returns the element that belongs to a node, counted from the end. Proxies that forward a request
  /// leave a single element unchanged, so that it applies to all hops.
  private static func element(_ elements: [String], fromEnd: Int) -> String? {
    if elements.count == 1 { return elements[0] }
    return fromEnd <= elements.count ? elements[elements.count - fromEnd] : nil
  }

  private static func elements(_ bytes: ArraySlice<UInt8>) -> [String] {
    bytes.split(separator: UInt8(ascii: ",")).map(\.trimmingBlanks).filter { !$0.isEmpty }.map(
      \.text)
  }
}
