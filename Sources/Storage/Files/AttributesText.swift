import LosslessJSON
import Model

/// An object's attributes as they lie in a column: compact JSON, what is not set left out.
enum AttributesText {
  private static let names: [(String, any WritableKeyPath<ObjectAttributes, String?> & Sendable)] =
    [
      ("encoding", \.contentEncoding), ("language", \.contentLanguage),
      ("disposition", \.contentDisposition), ("cache", \.cacheControl), ("expires", \.expires),
      ("encryption", \.serverSideEncryption),
    ]

  static func encode(_ attributes: ObjectAttributes) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    if attributes.contentType != ObjectAttributes.defaultContentType {
      writer.name("type")
      writer.string(attributes.contentType)
    }
    for (name, path) in names {
      guard let value = attributes[keyPath: path] else { continue }
      writer.name(name)
      writer.string(value)
    }
    if !attributes.custom.isEmpty {
      writer.name("custom")
      writer.beginObject()
      for (name, value) in attributes.custom.sorted(by: { $0.key < $1.key }) {
        writer.name(name)
        writer.string(value)
      }
      writer.endObject()
    }
    if !attributes.tags.isEmpty {
      writer.name("tags")
      writer.beginObject()
      for tag in attributes.tags.tags {
        writer.name(tag.key)
        writer.string(tag.value)
      }
      writer.endObject()
    }
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// - Throws: where the column holds no JSON, so was written by something else.
  static func decode(_ text: String) throws -> ObjectAttributes {
    let value = try JSONValue(checked: text)
    var attributes = ObjectAttributes()
    if let type = value["type"]?.string { attributes.contentType = type }
    for (name, path) in names { attributes[keyPath: path] = value[name]?.string }
    for member in value["custom"]?.members ?? [] {
      attributes.custom[member.name] = member.value.string
    }
    attributes.tags = try TagSet(
      (value["tags"]?.members ?? []).map {
        TagSet.Tag(key: $0.name, value: $0.value.string ?? "")
      })
    return attributes
  }
}
