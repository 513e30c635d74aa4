import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model

/// Header fields of an object: as a writer sends them, and as a reader gets them.
enum FileFields {
  private static let customPrefix = "x-amz-meta-"

  static func attributes(of request: ServerRequest) -> ObjectAttributes {
    attributes(of: request.fields)
  }

  static func attributes(of fields: HTTPFields) -> ObjectAttributes {
    var attributes = ObjectAttributes()
    for field in fields {
      let name = field.name.canonicalName
      if name.hasPrefix(customPrefix) {
        let key = String(name.dropFirst(customPrefix.count))
        attributes.custom[key] =
          attributes.custom[key].map { "\($0),\(field.value)" } ?? field.value
      }
    }
    if let type = fields[.contentType], !type.isEmpty { attributes.contentType = type }
    attributes.contentEncoding = fields[.contentEncoding]
    attributes.contentLanguage = fields[.contentLanguage]
    attributes.contentDisposition = fields[.contentDisposition]
    attributes.cacheControl = fields[.cacheControl]
    attributes.expires = fields[.expires]
    return attributes
  }

  /// - Parameter isPublic: whether anybody may read the object.
  static func fields(of metadata: ObjectMetadata, isPublic: Bool) -> HTTPFields {
    let attributes = metadata.attributes
    var fields = validators(of: metadata, isPublic: isPublic)
    fields[.contentType] = attributes.contentType
    fields[.acceptRanges] = "bytes"
    fields[.contentEncoding] = attributes.contentEncoding
    fields[.contentLanguage] = attributes.contentLanguage
    fields[.contentDisposition] = ContentDisposition.value(for: metadata)
    // What was uploaded must not act in this service's name, whatever it says it is.
    fields[.contentSecurityPolicy] = "sandbox; default-src 'none'"
    for (name, value) in attributes.custom {
      if let name = HTTPField.Name(customPrefix + name) { fields[name] = value }
    }
    if let checksum = metadata.checksum,
      let name = HTTPField.Name("x-amz-checksum-\(checksum.digest.algorithm.rawValue)")
    {
      fields[name] = S3Digests.text(checksum)
    }
    return fields
  }

  /// What a 304 repeats (RFC 9110 15.4.5).
  static func validators(of metadata: ObjectMetadata, isPublic: Bool) -> HTTPFields {
    var fields: HTTPFields = [
      .eTag: tag(metadata).text, .lastModified: modified(metadata).text,
    ]
    fields[.cacheControl] =
      isPublic ? metadata.attributes.cacheControl ?? "no-cache" : "private, no-cache"
    if isPublic { fields[.expires] = metadata.attributes.expires }
    if !isPublic { fields[.vary] = "Authorization" }
    return fields
  }

  static func tag(_ metadata: ObjectMetadata) -> EntityTag { EntityTag(metadata.tag) }

  static func modified(_ metadata: ObjectMetadata) -> HTTPDate {
    HTTPDate(secondsSince1970: metadata.modified.milliseconds / 1000)
  }
}
