import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model

/// Header fields of an object as S3 writes them: what its writer said, and nothing of ours but what
/// keeps an upload from acting in this service's name.
enum S3ObjectFields {
  /// - Parameter isSigned: whether the request is signed. A link without a signature is opened by a
  ///   browser: like `/v1/files`, it never shows a type that may hold script or style.
  static func fields(
    of metadata: ObjectMetadata, isChecksumWanted: Bool, isSigned: Bool
  ) -> HTTPFields {
    let attributes = metadata.attributes
    var fields = validators(of: metadata)
    fields[.contentType] = attributes.contentType
    fields[.acceptRanges] = "bytes"
    fields[.contentEncoding] = attributes.contentEncoding
    fields[.contentLanguage] = attributes.contentLanguage
    fields[.contentDisposition] =
      isSigned ? attributes.contentDisposition : ContentDisposition.value(for: metadata)
    fields[.cacheControl] = attributes.cacheControl
    fields[.expires] = attributes.expires
    fields[.contentSecurityPolicy] = "sandbox; default-src 'none'"
    fields.setEncryption(attributes)
    if !attributes.tags.isEmpty {
      fields.set("x-amz-tagging-count", "\(attributes.tags.tags.count)")
    }
    for (name, value) in attributes.custom { fields.set("x-amz-meta-\(name)", value) }
    if isChecksumWanted { fields.setChecksum(metadata.checksum) }
    return fields
  }

  static func validators(of metadata: ObjectMetadata) -> HTTPFields {
    [
      .eTag: FileFields.tag(metadata).text, .lastModified: FileFields.modified(metadata).text,
    ]
  }
}

extension HTTPFields {
  mutating func set(_ name: String, _ value: String) {
    if let name = HTTPField.Name(name) { self[name] = value }
  }

  mutating func setEncryption(_ attributes: ObjectAttributes) {
    if let text = attributes.serverSideEncryption { set("x-amz-server-side-encryption", text) }
  }

  mutating func setChecksum(_ checksum: ObjectChecksum?) {
    guard let checksum else { return }
    set("x-amz-checksum-\(checksum.digest.algorithm.rawValue)", S3Digests.text(checksum))
    set("x-amz-checksum-type", checksum.kind.rawValue)
  }

  mutating func setChecksum(_ digest: ContentDigest?) {
    guard let digest else { return }
    set("x-amz-checksum-\(digest.algorithm.rawValue)", Base64.encode(digest.bytes))
  }
}
