import HTTPTypes
import HTTPWire
import Model
import S3Wire

/// Conversion between the attributes of an object and header fields.
enum S3StoredFields {
  private static let customPrefix = "x-amz-meta-"

  static func fields(of attributes: ObjectAttributes) -> [CanonicalRequest.Field] {
    let named: [(String, String?)] = [
      ("content-type", attributes.contentType), ("content-encoding", attributes.contentEncoding),
      ("content-language", attributes.contentLanguage),
      ("content-disposition", attributes.contentDisposition),
      ("cache-control", attributes.cacheControl), ("expires", attributes.expires),
      ("x-amz-server-side-encryption", attributes.serverSideEncryption),
      ("x-amz-tagging", attributes.tags.isEmpty ? nil : text(attributes.tags)),
    ]
    return named.compactMap { name, value in value.map { CanonicalRequest.Field(name, $0) } }
      + attributes.custom.sorted { $0.key < $1.key }.map {
        CanonicalRequest.Field(customPrefix + $0.key, EncodedWord.encode($0.value))
      }
  }

  /// Returns tags as a query string.
  static func text(_ tags: TagSet) -> String {
    var query = QueryString()
    query.parameters = tags.tags.map { QueryString.Parameter(name: $0.key, value: $0.value) }
    return query.text
  }

  /// Returns the fields of a digest, by which the service verifies the content or which it records.
  static func fields(of digest: ContentDigest) -> [CanonicalRequest.Field] {
    let text = Base64.encode(digest.bytes)
    if digest.algorithm == .md5 { return [CanonicalRequest.Field("content-md5", text)] }
    let name = digest.algorithm.rawValue
    return [
      CanonicalRequest.Field("x-amz-checksum-\(name)", text),
      CanonicalRequest.Field("x-amz-sdk-checksum-algorithm", name.uppercased()),
    ]
  }

  /// - Parameter size: of the whole object; nil for the length in the fields.
  static func metadata(
    of key: ObjectKey, _ fields: HTTPFields, size: Int? = nil
  ) -> ObjectMetadata? {
    guard let size = size ?? fields[.contentLength].flatMap({ Int($0) }), size >= 0 else {
      return nil
    }
    let modified = fields[.lastModified].flatMap {
      HTTPDate($0, now: HTTPDate(secondsSince1970: 0))
    }
    return ObjectMetadata(
      key: key, size: size,
      modified: Timestamp(milliseconds: (modified?.secondsSince1970 ?? 0) * 1000),
      tag: S3Documents.tag(fields[.eTag] ?? ""), checksum: checksum(fields),
      attributes: attributes(fields))
  }

  /// Returns the first checksum in the fields.
  static func checksum(_ fields: HTTPFields) -> ObjectChecksum? {
    for algorithm in ContentDigest.Algorithm.allCases where algorithm != .md5 {
      if let name = HTTPField.Name("x-amz-checksum-\(algorithm.rawValue)"),
        let checksum = fields[name].flatMap({ self.checksum(algorithm, $0) })
      {
        return checksum
      }
    }
    return nil
  }

  /// Parses a checksum; a composite one ends with the number of parts.
  private static func checksum(
    _ algorithm: ContentDigest.Algorithm, _ text: String
  ) -> ObjectChecksum? {
    let sides = text.split(separator: "-", maxSplits: 1)
    guard let bytes = sides.first.flatMap({ Base64.decode(String($0)) }),
      let digest = ContentDigest(algorithm, bytes)
    else { return nil }
    guard sides.count > 1 else { return ObjectChecksum(digest) }
    return Int(sides[1]).map { ObjectChecksum(digest, partCount: $0) }
  }

  /// Returns the fields of the checksum of a whole object.
  static func fields(of checksum: ObjectChecksum) -> [CanonicalRequest.Field] {
    let count = checksum.partCount.map { "-\($0)" } ?? ""
    return [
      CanonicalRequest.Field(
        "x-amz-checksum-\(checksum.digest.algorithm.rawValue)",
        Base64.encode(checksum.digest.bytes) + count),
      CanonicalRequest.Field("x-amz-checksum-type", checksum.kind.rawValue),
    ]
  }

  private static func attributes(_ fields: HTTPFields) -> ObjectAttributes {
    var custom: [String: String] = [:]
    for field in fields where field.name.canonicalName.hasPrefix(customPrefix) {
      let name = String(field.name.canonicalName.dropFirst(customPrefix.count))
      custom[name] = EncodedWord.decode(field.value)
    }
    return ObjectAttributes(
      contentType: fields[.contentType] ?? ObjectAttributes.defaultContentType,
      contentEncoding: coding(fields[.contentEncoding]),
      contentLanguage: fields[.contentLanguage],
      contentDisposition: fields[.contentDisposition], cacheControl: fields[.cacheControl],
      expires: fields[.expires], custom: custom,
      serverSideEncryption: encryption(fields))
  }

  private static func encryption(_ fields: HTTPFields) -> String? {
    let text = HTTPField.Name("x-amz-server-side-encryption").flatMap { fields[$0] }
    return text == "AES256" ? text : nil
  }

  /// Removes `aws-chunked`: some services record the framing of the upload.
  private static func coding(_ text: String?) -> String? {
    let codings = (text ?? "").split(separator: ",").map { $0.drop { $0 == " " } }
      .filter { $0 != "aws-chunked" }
    return codings.isEmpty ? nil : codings.joined(separator: ", ")
  }
}
