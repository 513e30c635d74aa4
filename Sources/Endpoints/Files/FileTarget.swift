import HTTPServer
import HTTPWire
import Model

/// The object, or bucket, that a path below `/v1/files` names.
enum FileTarget {
  static func bucket(of request: ServerRequest) throws(Failure) -> BucketName {
    guard let bucket = BucketName(request.parameters["bucket"] ?? "") else {
      throw Failure(
        .bucketInvalid,
        "A bucket's name is 3 to 63 lower-case letters, digits, hyphens and dots.")
    }
    return bucket
  }

  /// The key as the path has it, decoded once; nil for none, so that the bucket is meant.
  static func keyText(of request: ServerRequest) throws(Failure) -> String? {
    guard let encoded = request.parameters["key"], !encoded.isEmpty else { return nil }
    guard let text = PercentCoding.decode(encoded) else { throw invalidKey }
    return text
  }

  static func key(_ text: String) throws(Failure) -> ObjectKey {
    guard let key = ObjectKey(text) else { throw invalidKey }
    return key
  }

  static func object(of request: ServerRequest) throws(Failure) -> ObjectAddress {
    let bucket = try bucket(of: request)
    guard let text = try keyText(of: request) else { throw invalidKey }
    return ObjectAddress(bucket: bucket, key: try key(text))
  }

  /// The path of an object's own URL.
  static func path(of address: ObjectAddress) -> String {
    let segments = address.key.text.utf8.split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
    ).map { PercentCoding.encode(String(decoding: $0, as: UTF8.self)) }
    return "/v1/files/\(address.bucket.text)/\(segments.joined(separator: "/"))"
  }

  private static let invalidKey = Failure(
    .keyInvalid,
    "A key is 1 to \(ObjectKey.bytesMax) bytes of UTF-8 without control characters, and without "
      + "a . or .. between slashes.")
}
