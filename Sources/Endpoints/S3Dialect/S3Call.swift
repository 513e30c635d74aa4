import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model
import S3Wire

/// A request of the S3 dialect whose signature was judged.
struct S3Call: Sendable {
  let request: ServerRequest
  let access: S3Request
  let query: QueryString

  var caller: Caller { access.grant.caller }
  /// As in S3, where no request says another.
  var region: String { access.region ?? "us-east-1" }

  func has(_ name: String) -> Bool { query[name] != nil }

  func field(_ name: String) -> String? { request.field(name) }

  /// A number of the query; nil where it is absent.
  func number(_ name: String, in range: ClosedRange<Int>) throws(S3Fault) -> Int? {
    guard let text = query[name] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw S3Fault(
        .invalidArgument,
        "\(name) is a number from \(range.lowerBound) to \(range.upperBound).")
    }
    return number
  }

  /// The bucket that the path names, where the key is for it.
  ///
  /// - Returns: nil where the path names none.
  func bucket(for action: FileAction) throws(S3Fault) -> BucketName? {
    guard let text = request.parameters["bucket"] else { return nil }
    guard let bucket = BucketName(text) else {
      throw S3Fault(.invalidBucketName, "The specified bucket is not valid.")
    }
    try access.grant.admit(to: action, bucket)
    return bucket
  }

  /// The key that the path names, decoded once; nil where it names a bucket alone.
  func key() throws(S3Fault) -> ObjectKey? {
    guard let encoded = request.parameters["key"], !encoded.isEmpty else { return nil }
    guard let text = PercentCoding.decode(encoded) else {
      throw S3Fault(.invalidArgument, "The key is not well-formed percent-encoded UTF-8.")
    }
    return try Self.key(text)
  }

  static func key(_ text: String) throws(S3Fault) -> ObjectKey {
    guard text.utf8.count <= ObjectKey.bytesMax else {
      throw S3Fault(.keyTooLong, "A key has up to \(ObjectKey.bytesMax) bytes.")
    }
    guard let key = ObjectKey(text) else {
      throw S3Fault(
        .invalidArgument,
        "A key is no empty text and has no control characters, and no . or .. between slashes.")
    }
    return key
  }

  /// Versions are not kept: what is there is the only one, whose id is `null`.
  func requireNoVersion() throws(S3Fault) {
    guard let version = query["versionId"], version != "null", !version.isEmpty else { return }
    throw S3Fault(.noSuchVersion, "Versions of objects are not kept here.")
  }
}
