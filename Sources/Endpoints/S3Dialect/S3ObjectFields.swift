import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model

/// Header fields of an object in S3's responses: those given by its writer, and those that keep an
/// upload from running with this service's origin.
enum S3ObjectFields {
  /// - Parameter isSigned: whether the request is signed. A link without a signature can be opened by a
  ///   browser; as in `/v1/files`, a type that can contain script or style is not displayed.
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

/// Response fields that a request sets in its query, such as `response-content-type`.
struct S3ResponseOverrides {
  static let names: [(parameter: String, field: HTTPField.Name)] = [
    ("response-cache-control", .cacheControl),
    ("response-content-disposition", .contentDisposition),
    ("response-content-encoding", .contentEncoding),
    ("response-content-language", .contentLanguage), ("response-content-type", .contentType),
    ("response-expires", .expires),
  ]

  private var fields = HTTPFields()

  /// Reads the fields. Only a signed request can have them: otherwise anyone could make a link that
  /// changes how an object is displayed.
  init(_ call: S3Call) throws(S3Fault) {
    for (parameter, field) in Self.names {
      guard let value = call.query[parameter] else { continue }
      guard call.access.isSigned else {
        throw S3Fault(.invalidRequest, "\(parameter) requires a signed request.")
      }
      guard HTTPField.isValidValue(value) else {
        throw S3Fault(
          .invalidArgument, "The value of \(parameter) is not a valid header field value.")
      }
      fields[field] = value
    }
  }

  func apply(to fields: inout HTTPFields) {
    for field in self.fields { fields[field.name] = field.value }
  }
}
