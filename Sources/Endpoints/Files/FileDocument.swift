import Gateway
import HTTPWire
import LosslessJSON
import Model

/// Objects, parts and wishes as JSON.
enum FileDocument {
  static func bytes(_ metadata: ObjectMetadata, in bucket: BucketName) -> [UInt8] {
    let value: JSONValue = [
      "bucket": .string(bucket.text), "key": .string(metadata.key.text),
      "size": .number(JSONNumber(metadata.size)), "etag": .string(EntityTag(metadata.tag).text),
      "modifiedAt": .number(JSONNumber(metadata.modified.milliseconds)),
    ]
    return value.bytes
  }

  static func bytes(_ part: UploadPart) -> [UInt8] {
    let value: JSONValue = [
      "partNumber": .number(JSONNumber(part.number)), "size": .number(JSONNumber(part.size)),
      "etag": .string(EntityTag(part.tag).text),
    ]
    return value.bytes
  }

  /// `{"to": "key"}`, in the same bucket, or `{"to": {"bucket", "key"}}`.
  static func copyTarget(
    _ bytes: [UInt8], bucket: BucketName
  ) throws(Failure) -> ObjectAddress {
    let body = try AdminDocument.object(bytes)
    if let text = body["to"]?.string {
      return ObjectAddress(bucket: bucket, key: try FileTarget.key(text))
    }
    guard let text = body["to"]?["key"]?.string else {
      throw fault("/to", "is the key of the copy, or an object with bucket and key")
    }
    let name = body["to"]?["bucket"]?.string.map { BucketName($0) } ?? bucket
    guard let name else { throw fault("/to/bucket", "is no bucket's name") }
    return ObjectAddress(bucket: name, key: try FileTarget.key(text))
  }

  /// `{"method", "expiresIn"?}`, in seconds.
  static func presigning(
    _ bytes: [UInt8]
  ) throws(Failure) -> (method: FileMethod, seconds: Int64) {
    let body = try AdminDocument.object(bytes)
    let text = body["method"].map { $0.string ?? "" } ?? FileMethod.get.rawValue
    guard let method = FileMethod(rawValue: text) else {
      let names = FileMethod.allCases.map(\.rawValue).joined(separator: ", ")
      throw fault("/method", "is one of \(names)")
    }
    guard let wish = body["expiresIn"], wish != .null else {
      return (method, Presigner.lifetimeSecondsDefault)
    }
    guard let seconds = wish.int64 else { throw fault("/expiresIn", "is a number of seconds") }
    return (method, seconds)
  }

  /// `{"parts": [{"partNumber", "etag"}]}`; nil for an empty body, which means all there are.
  static func parts(_ bytes: [UInt8]) throws(Failure) -> [PartReference]? {
    guard !bytes.isEmpty, let list = try AdminDocument.object(bytes)["parts"], list != .null else {
      return nil
    }
    guard let elements = list.array else { throw fault("/parts", "is a list") }
    var parts: [PartReference] = []
    for (index, element) in elements.enumerated() {
      guard let number = element["partNumber"]?.int64, let text = element["etag"]?.string else {
        throw fault("/parts/\(index)", "is an object with partNumber and etag")
      }
      let tag = EntityTag(parsing: text)?.opaque ?? text
      parts.append(PartReference(number: Int(number), tag: tag))
    }
    return parts
  }

  private static func fault(_ pointer: String, _ detail: String) -> Failure {
    Failure(
      .malformedRequest, "The body cannot be read.",
      details: [Failure.Detail(place: .pointer(pointer), detail: detail)])
  }
}
