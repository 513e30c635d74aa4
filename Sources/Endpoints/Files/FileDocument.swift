import Gateway
import HTTPWire
import LosslessJSON
import Model

/// Objects and parts as JSON, and the JSON bodies of requests for files.
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

  /// Reads `{"to": "key"}`, a key in the same bucket, or `{"to": {"bucket", "key"}}`.
  static func copyTarget(
    _ bytes: [UInt8], bucket: BucketName
  ) throws(Failure) -> ObjectAddress {
    let body = try ObjectBody.object(bytes)
    if let text = body["to"]?.string {
      return ObjectAddress(bucket: bucket, key: try FileTarget.key(text))
    }
    guard let text = body["to"]?["key"]?.string else {
      throw fault("/to", "must be the key of the copy, or an object with bucket and key")
    }
    let name = body["to"]?["bucket"]?.string.map { BucketName($0) } ?? bucket
    guard let name else {
      throw fault(
        "/to/bucket", "must be a bucket name: 3 to 63 lower-case letters, digits, hyphens and dots")
    }
    return ObjectAddress(bucket: name, key: try FileTarget.key(text))
  }

  /// Reads `{"method"?, "expiresIn"?}`, the latter in seconds.
  static func presigning(
    _ bytes: [UInt8]
  ) throws(Failure) -> (method: FileMethod, seconds: Int64) {
    let body = try ObjectBody.object(bytes)
    let text = body["method"].map { $0.string ?? "" } ?? FileMethod.get.rawValue
    guard let method = FileMethod(rawValue: text) else {
      let names = FileMethod.allCases.map(\.rawValue).joined(separator: ", ")
      throw fault("/method", "must be one of \(names)")
    }
    guard let value = body["expiresIn"], value != .null else {
      return (method, Presigner.lifetimeSecondsDefault)
    }
    guard let seconds = value.int64 else {
      throw fault("/expiresIn", "must be a number of seconds")
    }
    return (method, seconds)
  }

  /// Reads `{"parts": [{"partNumber", "etag"}]}`; nil for an empty body, which means all parts.
  static func parts(_ bytes: [UInt8]) throws(Failure) -> [PartReference]? {
    guard !bytes.isEmpty, let list = try ObjectBody.object(bytes)["parts"], list != .null else {
      return nil
    }
    guard let elements = list.array else { throw fault("/parts", "must be an array") }
    var parts: [PartReference] = []
    for (index, element) in elements.enumerated() {
      guard let number = element["partNumber"]?.int64, let text = element["etag"]?.string else {
        throw fault("/parts/\(index)", "must be an object with partNumber and etag")
      }
      let tag = EntityTag(parsing: text)?.opaque ?? text
      parts.append(PartReference(number: Int(number), tag: tag))
    }
    return parts
  }

  private static func fault(_ pointer: String, _ detail: String) -> Failure {
    Failure(
      .malformedRequest, "The body is invalid.",
      details: [Failure.Detail(place: .pointer(pointer), detail: detail)])
  }
}
