import HTTPWire
import Model
import S3Wire

/// Conversion of elements of the service's XML documents.
enum S3Documents {
  static func bucket(_ element: XMLElement) -> BucketDescription? {
    guard let name = element["Name"].flatMap({ BucketName($0.text) }) else { return nil }
    return BucketDescription(name: name, created: moment(element["CreationDate"]))
  }

  /// - Parameter isEncoded: whether the service percent-encoded keys as requested (`encoding-type=url`).
  /// - Returns: nil for a key that is invalid here.
  static func item(_ element: XMLElement, isEncoded: Bool) -> ObjectListPage.Item? {
    guard
      let key = element["Key"].flatMap({ text($0, isEncoded: isEncoded) }).flatMap(ObjectKey.init),
      let size = element["Size"].flatMap({ Int($0.text) }), size >= 0
    else { return nil }
    return ObjectListPage.Item(
      key: key, size: size, modified: moment(element["LastModified"]),
      tag: tag(element["ETag"]?.text ?? ""))
  }

  static func upload(
    _ element: XMLElement, in bucket: BucketName, isEncoded: Bool
  ) -> UploadDescription? {
    guard
      let key = element["Key"].flatMap({ text($0, isEncoded: isEncoded) }).flatMap(ObjectKey.init),
      let id = element["UploadId"]?.text
    else { return nil }
    return UploadDescription(
      address: UploadAddress(object: ObjectAddress(bucket: bucket, key: key), id: id),
      begun: moment(element["Initiated"]))
  }

  static func part(_ element: XMLElement) -> UploadPart? {
    guard let number = element["PartNumber"].flatMap({ Int($0.text) }),
      let size = element["Size"].flatMap({ Int($0.text) }), size >= 0,
      let tag = element["ETag"]?.text
    else { return nil }
    return UploadPart(
      number: number, size: size, tag: self.tag(tag), modified: moment(element["LastModified"]),
      checksum: checksum(element))
  }

  /// Returns the checksum of an element, from members such as `ChecksumCRC32`.
  static func checksum(_ element: XMLElement) -> ContentDigest? {
    for algorithm in ContentDigest.Algorithm.allCases where algorithm != .md5 {
      if let text = element["Checksum\(algorithm.rawValue.uppercased())"]?.text,
        let bytes = Base64.decode(text), let digest = ContentDigest(algorithm, bytes)
      {
        return digest
      }
    }
    return nil
  }

  /// Returns the text, decoded if the service percent-encoded it, with `+` for a space.
  static func text(_ element: XMLElement, isEncoded: Bool) -> String? {
    isEncoded ? PercentCoding.decode(element.text, plusIsSpace: true) : element.text
  }

  static func isEncoded(_ root: XMLElement) -> Bool { root["EncodingType"]?.text == "url" }

  static func isTruncated(_ root: XMLElement) -> Bool { root["IsTruncated"]?.text == "true" }

  /// Returns an entity tag without its quotes.
  static func tag(_ text: String) -> String {
    guard text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
    return String(text.dropFirst().dropLast())
  }

  static func moment(_ element: XMLElement?) -> Timestamp {
    let date = element.flatMap { HTTPDate(isoText: $0.text) }
    return Timestamp(milliseconds: (date?.secondsSince1970 ?? 0) * 1000)
  }
}
