import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model
import S3Wire

/// A request of the S3 dialect whose signature was verified, or which has none.
struct S3Call: Sendable {
  let request: ServerRequest
  let access: S3Request
  let query: QueryString

  var caller: Caller { access.grant.caller }
  /// The signature's region; without one S3's default.
  var region: String { access.region ?? "us-east-1" }

  /// The request's preconditions. Like S3, they accept tags without quotes.
  var preconditions: Preconditions { request.preconditions(acceptsBareTags: true) }

  /// The fields of the request, and the `x-amz-…` fields that its signer moved into the query, where
  /// they mean the same.
  let fields: HTTPFields

  init(request: ServerRequest, access: S3Request, query: QueryString) {
    self.request = request
    self.access = access
    self.query = query
    var fields = request.fields
    if access.isSigned {
      for parameter in query.parameters {
        let name = parameter.name.lowercased()
        guard name.hasPrefix("x-amz-"), !Self.signatureNames.contains(name),
          let field = HTTPField.Name(name), fields[field] == nil,
          HTTPField.isValidValue(parameter.value)
        else { continue }
        fields[field] = parameter.value
      }
    }
    self.fields = fields
  }

  /// - Parameter fields: fields that replace those of the request.
  init(request: ServerRequest, access: S3Request, query: QueryString, fields: HTTPFields) {
    self.request = request
    self.access = access
    self.query = query
    self.fields = fields
  }

  /// Parameters of the signature itself.
  private static let signatureNames: Set<String> = [
    "x-amz-algorithm", "x-amz-content-sha256", "x-amz-credential", "x-amz-date", "x-amz-expires",
    "x-amz-security-token", "x-amz-signature", "x-amz-signedheaders",
  ]

  /// The value of a field, its lines joined.
  func field(_ name: String) -> String? {
    HTTPField.Name(name).flatMap { fields[$0] }
  }

  /// The value of a numeric query parameter; nil if it is absent.
  func number(_ name: String, in range: ClosedRange<Int>) throws(S3Fault) -> Int? {
    guard let text = query[name] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw S3Fault(
        .invalidArgument,
        "\(name) must be a number from \(range.lowerBound) to \(range.upperBound).")
    }
    return number
  }

  /// The bucket in the path, checked against the access key's buckets.
  func bucket(for action: FileAction) throws(S3Fault) -> BucketName {
    guard let bucket = BucketName(request.parameters["bucket"] ?? "") else {
      throw S3Fault(.invalidBucketName, "The specified bucket is not valid.")
    }
    try access.grant.admit(to: action, bucket)
    return bucket
  }

  /// The object key in the path, decoded once.
  func key() throws(S3Fault) -> ObjectKey {
    guard let text = PercentCoding.decode(request.parameters["key"] ?? "") else {
      throw S3Fault(.invalidArgument, "The key is not valid percent-encoded UTF-8.")
    }
    return try Self.key(text)
  }

  static func key(_ text: String) throws(S3Fault) -> ObjectKey {
    guard text.utf8.count <= ObjectKey.bytesMax else {
      throw S3Fault(.keyTooLong, "A key can have at most \(ObjectKey.bytesMax) bytes.")
    }
    guard let key = ObjectKey(text) else {
      throw S3Fault(
        .invalidArgument,
        "A key must not be empty, nor have control characters or segments . or .. between slashes.")
    }
    return key
  }

  /// Refuses a request that expects another owner of a bucket.
  func requireOwner() throws(S3Fault) {
    for name in ["x-amz-expected-bucket-owner", "x-amz-source-expected-bucket-owner"] {
      guard let owner = field(name), owner != S3Reply.owner else { continue }
      throw S3Fault(.accessDenied, "The bucket's owner is not the one in \(name).")
    }
  }

  /// Refuses a version id. Objects have one version, whose id is `null`.
  func requireNoVersion() throws(S3Fault) {
    guard let version = query["versionId"], version != "null", !version.isEmpty else { return }
    throw S3Fault(.noSuchVersion, "Object versions are not supported.")
  }
}

/// The source of a copy: `x-amz-copy-source` and the conditions on it.
struct S3CopySource {
  let address: ObjectAddress
  let conditions: Preconditions?

  /// - Throws: also if the access key cannot read the bucket.
  init(_ call: S3Call) throws(S3Fault) {
    let text = call.field("x-amz-copy-source") ?? ""
    let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    if parts.count > 1 {
      guard parts[1] == "versionId=null" else {
        throw S3Fault(.noSuchVersion, "Object versions are not supported.")
      }
    }
    guard let path = PercentCoding.decode(parts[0]) else { throw Self.malformed }
    var trimmed = path.hasPrefix("/") ? path.dropFirst() : path[...]
    // s3fs includes the path before the bucket; `s3` is too short to be a bucket name.
    if trimmed.hasPrefix("s3/") { trimmed = trimmed.dropFirst(3) }
    guard let slash = trimmed.firstIndex(of: "/"),
      let bucket = BucketName(String(trimmed[..<slash]))
    else { throw Self.malformed }
    let key = try S3Call.key(String(trimmed[trimmed.index(after: slash)...]))
    try call.access.grant.admit(to: .read, bucket)
    address = ObjectAddress(bucket: bucket, key: key)
    let wanted = Preconditions(
      ifMatch: call.field("x-amz-copy-source-if-match"),
      ifUnmodifiedSince: call.field("x-amz-copy-source-if-unmodified-since"),
      ifNoneMatch: call.field("x-amz-copy-source-if-none-match"),
      ifModifiedSince: call.field("x-amz-copy-source-if-modified-since"), now: call.request.date,
      acceptsBareTags: true)
    conditions = wanted.isEmpty ? nil : wanted
  }

  private static let malformed = S3Fault(
    .invalidArgument, "x-amz-copy-source must be a bucket and a key, percent-encoded.")

  /// The range to copy; nil for all.
  static func range(_ call: S3Call) throws(S3Fault) -> ByteRangeSet.Spec? {
    guard let text = call.field("x-amz-copy-source-range") else { return nil }
    guard let ranges = ByteRangeSet(text), ranges.specs.count == 1,
      case .closed = ranges.specs[0]
    else {
      throw S3Fault(
        .invalidArgument, "x-amz-copy-source-range must have the form bytes=first-last.")
    }
    return ranges.specs[0]
  }
}
