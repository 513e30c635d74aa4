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

  /// The conditions on this request. S3 takes tags without quotes as well.
  var preconditions: Preconditions { request.preconditions(acceptsBareTags: true) }

  /// The fields of the request, and those that its signer moved into the query: `x-amz-…` there mean
  /// the same.
  let fields: HTTPFields

  init(request: ServerRequest, access: S3Request, query: QueryString) {
    self.request = request
    self.access = access
    self.query = query
    var fields = request.fields
    if access.isSigned {
      for parameter in query.parameters {
        let name = parameter.name.lowercased()
        guard name.hasPrefix("x-amz-"), !Self.ofSignature.contains(name),
          let field = HTTPField.Name(name), fields[field] == nil,
          HTTPField.isValidValue(parameter.value)
        else { continue }
        fields[field] = parameter.value
      }
    }
    self.fields = fields
  }

  /// - Parameter fields: in place of those of the request.
  init(request: ServerRequest, access: S3Request, query: QueryString, fields: HTTPFields) {
    self.request = request
    self.access = access
    self.query = query
    self.fields = fields
  }

  /// Parameters of the signature itself.
  private static let ofSignature: Set<String> = [
    "x-amz-algorithm", "x-amz-content-sha256", "x-amz-credential", "x-amz-date", "x-amz-expires",
    "x-amz-security-token", "x-amz-signature", "x-amz-signedheaders",
  ]

  /// The values of a field, as one.
  func field(_ name: String) -> String? {
    HTTPField.Name(name).flatMap { fields[$0] }
  }

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
  func bucket(for action: FileAction) throws(S3Fault) -> BucketName {
    guard let bucket = BucketName(request.parameters["bucket"] ?? "") else {
      throw S3Fault(.invalidBucketName, "The specified bucket is not valid.")
    }
    try access.grant.admit(to: action, bucket)
    return bucket
  }

  /// The key that the path names, decoded once.
  func key() throws(S3Fault) -> ObjectKey {
    guard let text = PercentCoding.decode(request.parameters["key"] ?? "") else {
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

  /// Whoever names the owner of a bucket wants nothing done to another's.
  func requireOwner() throws(S3Fault) {
    for name in ["x-amz-expected-bucket-owner", "x-amz-source-expected-bucket-owner"] {
      guard let owner = field(name), owner != S3Reply.owner else { continue }
      throw S3Fault(.accessDenied, "The owner of the bucket is not the one that \(name) names.")
    }
  }

  /// Versions are not kept: what is there is the only one, whose id is `null`.
  func requireNoVersion() throws(S3Fault) {
    guard let version = query["versionId"], version != "null", !version.isEmpty else { return }
    throw S3Fault(.noSuchVersion, "Versions of objects are not kept here.")
  }
}
