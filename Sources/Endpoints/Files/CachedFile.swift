import Gateway
import HTTPTypes
import HTTPWire

/// A small object with the bytes of its response made up to what changes with each request.
final class CachedFile: ResponseCacheEntry {
  let key: PlainRequestKey
  let file: SmallFile
  /// Quotes included.
  let entityTag: [UInt8]
  /// The field lines of a 200 but for those of each response, and the empty line.
  let fields: [UInt8]
  /// Those of a 304 (RFC 9110 15.4.5), to the same end.
  let notModifiedFields: [UInt8]

  var byteCount: Int {
    file.content.count + fields.count + notModifiedFields.count + key.byteCount
  }

  private static let notModifiedNames: [HTTPField.Name] = [
    .eTag, .lastModified, .cacheControl, .expires, .vary,
  ]

  /// - Parameter fields: of the whole object's answer.
  init(key: PlainRequestKey, file: SmallFile, fields: HTTPFields) {
    self.key = key
    self.file = file
    entityTag = Array((fields[.eTag] ?? "").utf8)
    let shared = Self.lines(of: fields) { Self.notModifiedNames.contains($0) }
    let nosniff = Array("X-Content-Type-Options: nosniff\r\n".utf8)
    let end = Array("\r\n".utf8)
    let length = Array("Content-Length: \(file.content.count)\r\n".utf8)
    notModifiedFields = shared + nosniff + end
    self.fields =
      shared + Self.lines(of: fields) { !Self.notModifiedNames.contains($0) } + length + nosniff
      + end
  }

  private static func lines(
    of fields: HTTPFields, where isWanted: (HTTPField.Name) -> Bool
  ) -> [UInt8] {
    fields.filter { isWanted($0.name) }.flatMap { field in
      Array("\(field.name.rawName): \(field.value)\r\n".utf8)
    }
  }
}
