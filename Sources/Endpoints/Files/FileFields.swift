import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model

/// Header fields of an object, in requests that write it and in responses that contain it.
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

  /// - Parameter isPublic: whether anonymous callers can read the object.
  static func fields(of metadata: ObjectMetadata, isPublic: Bool) -> HTTPFields {
    let attributes = metadata.attributes
    var fields = validators(of: metadata, isPublic: isPublic)
    fields[.contentType] = attributes.contentType
    fields[.acceptRanges] = "bytes"
    fields[.contentEncoding] = attributes.contentEncoding
    fields[.contentLanguage] = attributes.contentLanguage
    fields[.contentDisposition] = ContentDisposition.value(for: metadata)
    // Uploaded content must not run with this service's origin, whatever its type.
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

  /// The fields of a 304 (RFC 9110 section 15.4.5).
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

/// Reading of the condition of a request that writes an object.
enum WriteConditions {
  static func read(_ request: ServerRequest) throws(Failure) -> WriteCondition {
    try read(request.preconditions)
  }

  /// - Throws: for a malformed condition, because the object it guards must not be written.
  static func read(_ conditions: Preconditions) throws(Failure) -> WriteCondition {
    let unreadable = [
      ("If-Match", conditions.hasUnreadableIfMatch),
      ("If-None-Match", conditions.hasUnreadableIfNoneMatch),
    ].filter(\.1)
    guard unreadable.isEmpty else {
      throw Failure(
        .malformedRequest, "A precondition of the request is malformed.",
        details: unreadable.map { name, _ in
          Failure.Detail(
            place: .parameter(name), detail: "must be * or a list of entity tags in quotes")
        })
    }
    return WriteCondition(
      matching: conditions.ifMatch.map { tags($0, acceptsWeak: false) },
      notMatching: conditions.ifNoneMatch.map { tags($0, acceptsWeak: true) },
      unmodifiedSinceSeconds: conditions.ifUnmodifiedSince?.secondsSince1970)
  }

  /// - Parameter acceptsWeak: true for `If-None-Match`, which compares weakly. `If-Match` compares
  ///   strongly, so that a weak tag matches nothing (RFC 9110 sections 13.1.1 and 13.1.2).
  private static func tags(_ list: EntityTagList, acceptsWeak: Bool) -> WriteCondition.Tags {
    switch list {
    case .any: .any
    case .tags(let tags): .oneOf(tags.filter { acceptsWeak || !$0.isWeak }.map(\.opaque))
    }
  }
}
