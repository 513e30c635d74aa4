import HTTPWire

/// The value of `Forwarded` (RFC 7239 4): the request's way, the client's end first.
package struct ForwardedField: Sendable, Equatable {
  package let hops: [ForwardedHop]

  /// Reads a value, of all its lines joined; nil if it breaks the grammar, since nobody knows then
  /// which of its elements a proxy of ours wrote.
  package init?(_ bytes: ArraySlice<UInt8>) {
    var reader = Reader(rest: bytes)
    guard let hops = reader.hops() else { return nil }
    self.hops = hops
  }

  /// Takes a value apart from its front.
  private struct Reader {
    var rest: ArraySlice<UInt8>

    mutating func hops() -> [ForwardedHop]? {
      var hops: [ForwardedHop] = []
      while true {
        skipBlanks()
        // A list may have empty elements (RFC 9110 5.6.1).
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
        guard rest.first.map(Self.isTokenByte) ?? false else { break }
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
      let token = rest.prefix(while: Self.isTokenByte)
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

    /// `tchar` (RFC 9110 5.6.2).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default:
        "!#$%&'*+-.^_`|~".utf8.contains(byte)
      }
    }

    private mutating func skipBlanks() {
      rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
    }
  }
}
