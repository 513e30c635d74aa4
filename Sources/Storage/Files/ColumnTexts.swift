import LosslessJSON
import Model

/// The stored form of an object's attributes: compact JSON without unset members.
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

  /// - Throws: if the column does not hold JSON.
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

/// The stored form of a bucket's settings: JSON with the same members as an object's attributes.
enum BucketSettingsText {
  static func encode(_ settings: BucketSettings) -> String {
    AttributesText.encode(
      ObjectAttributes(serverSideEncryption: settings.encryption, tags: settings.tags))
  }

  /// - Throws: if the column does not hold JSON.
  static func decode(_ text: String) throws -> BucketSettings {
    let attributes = try AttributesText.decode(text)
    return BucketSettings(encryption: attributes.serverSideEncryption, tags: attributes.tags)
  }
}

/// The stored form of a checksum: `sha256:` and hexadecimal digits, followed by `:` and the number of parts
/// for a composite checksum.
enum ChecksumText {
  static func encode(_ digest: ContentDigest) -> String {
    "\(digest.algorithm.rawValue):\(Hexadecimal.encode(digest.bytes))"
  }

  static func encode(_ checksum: ObjectChecksum) -> String {
    encode(checksum.digest) + (checksum.partCount.map { ":\($0)" } ?? "")
  }

  static func encode(_ checksum: UploadChecksum) -> String {
    "\(checksum.algorithm.rawValue):\(checksum.kind.rawValue)"
  }

  /// - Returns: nil also for a composite checksum.
  static func decode(_ text: String) -> ContentDigest? {
    let checksum = decodeObject(text)
    return checksum?.partCount == nil ? checksum?.digest : nil
  }

  static func decodeObject(_ text: String) -> ObjectChecksum? {
    let parts = text.split(separator: ":")
    guard (2...3).contains(parts.count),
      let algorithm = ContentDigest.Algorithm(rawValue: String(parts[0])),
      let bytes = Hexadecimal.decode(parts[1]), let digest = ContentDigest(algorithm, bytes)
    else { return nil }
    guard parts.count == 3 else { return ObjectChecksum(digest) }
    return Int(parts[2]).map { ObjectChecksum(digest, partCount: $0) }
  }

  static func decodeUpload(_ text: String) -> UploadChecksum? {
    let parts = text.split(separator: ":")
    guard parts.count == 2, let algorithm = ContentDigest.Algorithm(rawValue: String(parts[0])),
      let kind = ChecksumKind(rawValue: String(parts[1]))
    else { return nil }
    return UploadChecksum(algorithm, kind)
  }
}
