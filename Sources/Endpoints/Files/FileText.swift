import HTTPWire
import Model

/// The choice whether a browser displays an object or saves it.
///
/// Only types without script and style are displayed; `nosniff` keeps browsers to the type.
enum ContentDisposition {
  private static let shownTypes: Set<String> = [
    "application/json", "application/octet-stream", "image/apng", "image/avif", "image/bmp",
    "image/gif", "image/jpeg", "image/png", "image/webp", "text/csv", "text/plain",
  ]

  /// The value of the field; nil if it is not needed.
  static func value(for metadata: ObjectMetadata) -> String? {
    let own = metadata.attributes.contentDisposition
    if isShown(metadata.attributes.contentType) { return own }
    let isAttachment = own.map {
      $0.prefix { $0 != ";" && $0 != " " }.lowercased() == "attachment"
    }
    return isAttachment == true ? own : attachment(named: metadata.key)
  }

  static func isShown(_ contentType: String) -> Bool {
    let type = contentType.prefix { $0 != ";" && $0 != " " }.lowercased()
    return shownTypes.contains(type) || type.hasPrefix("audio/") || type.hasPrefix("video/")
  }

  /// An attachment named after the last segment of the key (RFC 6266, RFC 8187).
  private static func attachment(named key: ObjectKey) -> String {
    let bytes = key.text.utf8.split(separator: UInt8(ascii: "/")).last ?? key.text.utf8[...]
    let name = String(decoding: bytes, as: UTF8.self)
    return "attachment; filename*=UTF-8''\(PercentCoding.encode(name))"
  }
}

/// A listing's continuation token as text. It grants nothing: a forged token only starts the listing at
/// another position of the objects that the caller can list anyway.
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
