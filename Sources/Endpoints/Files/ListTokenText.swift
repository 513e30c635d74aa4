import Model

/// A listing's continuation token as text. It opens nothing: whoever makes one up gets a listing
/// from another place of what may be listed anyway.
enum ListTokenText {
  static func encode(_ token: ListToken) -> String {
    switch token.place {
    case .key(let key): Base64URL.encode([UInt8(ascii: "k")] + Array(key.utf8))
    case .prefix(let prefix): Base64URL.encode([UInt8(ascii: "p")] + Array(prefix.utf8))
    case .foreign(let text): Base64URL.encode([UInt8(ascii: "f")] + Array(text.utf8))
    }
  }

  static func decode(_ text: String) -> ListToken? {
    guard let bytes = Base64URL.decode(text), let kind = bytes.first,
      let place = String(validating: bytes.dropFirst(), as: UTF8.self)
    else { return nil }
    switch kind {
    case UInt8(ascii: "k"): return ListToken(.key(place))
    case UInt8(ascii: "p"): return ListToken(.prefix(place))
    case UInt8(ascii: "f"): return ListToken(.foreign(place))
    default: return nil
    }
  }
}
