import HTTPWire
import Model

/// Whether a browser may show an object, or is to save it.
///
/// Only types that hold no script and no style are shown; `nosniff` keeps browsers to the type.
enum ContentDisposition {
  private static let shownTypes: Set<String> = [
    "application/json", "application/octet-stream", "image/apng", "image/avif", "image/bmp",
    "image/gif", "image/jpeg", "image/png", "image/webp", "text/csv", "text/plain",
  ]

  /// The field's value; nil where nothing need be said.
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

  /// With the last part of the key as its name (RFC 6266, RFC 8187).
  private static func attachment(named key: ObjectKey) -> String {
    let bytes = key.text.utf8.split(separator: UInt8(ascii: "/")).last ?? key.text.utf8[...]
    let name = String(decoding: bytes, as: UTF8.self)
    return "attachment; filename*=UTF-8''\(PercentCoding.encode(name))"
  }
}
