import HTTPServer
import HTTPWire
import Model

/// Reading of the bucket and the key in a path below `/v1/files`.
enum FileTarget {
  static func bucket(of request: ServerRequest) throws(Failure) -> BucketName {
    guard let bucket = BucketName(request.parameters["bucket"] ?? "") else {
      throw Failure(
        .bucketInvalid,
        "A bucket name must be 3 to 63 lower-case letters, digits, hyphens and dots.")
    }
    return bucket
  }

  /// The key in the path, decoded once; nil if the path names only the bucket.
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

  /// The path of an object's URL.
  static func path(of address: ObjectAddress) -> String {
    let segments = address.key.text.utf8.split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
    ).map { PercentCoding.encode(String(decoding: $0, as: UTF8.self)) }
    return "/v1/files/\(address.bucket.text)/\(segments.joined(separator: "/"))"
  }

  private static let invalidKey = Failure(
    .keyInvalid,
    "A key must be 1 to \(ObjectKey.bytesMax) bytes of UTF-8 without control characters, and "
      + "without segments . or .. between slashes.")
}

/// The query parameters of a request for files, by name. Unknown ones are ignored.
struct FileQuery {
  private let parameters: [QueryString.Parameter]

  init(_ request: ServerRequest) throws(Failure) {
    parameters = try request.queryParameters()
  }

  subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

  func contains(_ name: String) -> Bool { parameters.contains { $0.name == name } }

  /// The value of a numeric parameter; nil if it is absent.
  func number(_ name: String, in range: ClosedRange<Int>) throws(Failure) -> Int? {
    guard let text = self[name] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw Failure(
        .malformedRequest, "The request is invalid.",
        details: [
          Failure.Detail(
            place: .parameter(name),
            detail: "must be a number from \(range.lowerBound) to \(range.upperBound)")
        ])
    }
    return number
  }
}
