import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model
import S3Wire

extension S3Endpoint {
  private static let firstRegion = "us-east-1"
  /// The maximum number of buckets in a page, as in S3.
  private static let bucketsMax = 10_000

  func listBuckets(_ call: S3Call) async throws(S3Fault) -> ServerResponse {
    let limit = try call.number("max-buckets", in: 1...Self.bucketsMax)
    let prefix = call.query["prefix"]
    var after = ""
    if let text = call.query["continuation-token"], !text.isEmpty {
      guard case .key(let name) = ListTokenText.decode(text)?.place else {
        throw S3Fault(.invalidArgument, "The continuation token is invalid.")
      }
      after = name
    }
    let all = try await S3Fault.translating { () async throws(Failure) in
      try await files.buckets(within: call.access.grant)
    }
    let isOtherRegion = call.query["bucket-region"].map { $0 != call.region } ?? false
    let rest = all.filter {
      !isOtherRegion && $0.name.text.hasPrefix(prefix ?? "") && $0.name.text > after
    }
    let page = rest.prefix(limit ?? Self.bucketsMax)
    var writer = XMLWriter("ListAllMyBucketsResult")
    writer.owner()
    writer.element("Buckets") { writer in
      for bucket in page {
        writer.element("Bucket") { writer in
          writer.element("Name", bucket.name.text)
          writer.element("CreationDate", bucket.created)
        }
      }
    }
    if rest.count > page.count, let last = page.last {
      writer.element("ContinuationToken", ListTokenText.encode(ListToken(.key(last.name.text))))
    }
    if let prefix { writer.element("Prefix", prefix) }
    return S3Reply.document(writer)
  }

  func headBucket(_ bucket: BucketName, _ call: S3Call) async throws(S3Fault) -> ServerResponse {
    try await find(bucket, call)
    var response = S3Reply.done()
    response.fields.set("x-amz-bucket-region", call.region)
    return response
  }

  func readConfiguration(
    _ configuration: S3BucketConfiguration, of bucket: BucketName, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    try await find(bucket, call)
    return try configuration.response(region: call.region)
  }

  /// PutBucketAcl and PutObjectAcl. Only lists equivalent to `private` are accepted.
  func putAccessControl(_ call: S3Call) async throws(S3Fault) -> ServerResponse {
    try S3WriteFields.check(call)
    if call.field("x-amz-acl") == nil {
      try S3AccessControl.check(try await document(of: call))
    }
    return S3Reply.done()
  }

  func createBucket(_ bucket: BucketName, _ call: S3Call) async throws(S3Fault) -> ServerResponse {
    try S3WriteFields.check(call)
    // The requested location is ignored.
    if call.request.head.hasBody { _ = try await document(of: call) }
    do throws(Failure) {
      try await files.createBucket(bucket, by: call.caller)
    } catch {
      // As in S3's first region, creating one's own bucket again succeeds and changes nothing.
      guard error.code == .bucketExists, call.region == Self.firstRegion else {
        throw S3Fault(error)
      }
    }
    var response = S3Reply.done()
    response.fields[.location] = "/\(bucket.text)"
    return response
  }

  func deleteBucket(_ bucket: BucketName, _ call: S3Call) async throws(S3Fault) -> ServerResponse {
    try await S3Fault.translating { () async throws(Failure) in
      try await files.deleteBucket(bucket, by: call.caller)
    }
    return S3Reply.done(.noContent)
  }

  private func find(_ bucket: BucketName, _ call: S3Call) async throws(S3Fault) {
    _ = try await S3Fault.translating { () async throws(Failure) in
      try await files.bucket(bucket, for: call.caller)
    }
  }
}

extension S3Endpoint {
  /// GetBucketEncryption and GetBucketTagging.
  func readSettings(
    _ configuration: S3BucketConfiguration, of bucket: BucketName, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    let settings = try await S3Fault.translating { () async throws(Failure) in
      try await files.settings(of: bucket, for: call.caller)
    }
    switch configuration {
    case .encryption where settings.encryption != nil:
      var writer = XMLWriter("ServerSideEncryptionConfiguration")
      writer.element("Rule") { writer in
        writer.element("ApplyServerSideEncryptionByDefault") { writer in
          writer.element("SSEAlgorithm", settings.encryption ?? "")
        }
      }
      return S3Reply.document(writer)
    case .tagging where !settings.tags.isEmpty:
      return S3Tagging.document(settings.tags)
    default:
      return try configuration.response(region: call.region)
    }
  }

  /// PutBucketEncryption. It is stored and returned; encryption itself is left to the operator's disk.
  func putEncryption(of bucket: BucketName, _ call: S3Call) async throws(S3Fault) -> ServerResponse
  {
    let root = try await document(of: call)
    let rules = root.all("Rule")
    guard root.name == "ServerSideEncryptionConfiguration", rules.count == 1,
      let algorithm = rules[0]["ApplyServerSideEncryptionByDefault"]?["SSEAlgorithm"]?.text
    else {
      throw S3Fault(
        .malformedXML, "The document must be a ServerSideEncryptionConfiguration with one Rule.")
    }
    guard algorithm == "AES256" else {
      throw S3Fault(.notImplemented, "Only the algorithm AES256 is supported.")
    }
    return try await change(bucket, call) { $0.encryption = algorithm }
  }

  func deleteEncryption(
    of bucket: BucketName, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    _ = try await change(bucket, call) { $0.encryption = nil }
    return S3Reply.done(.noContent)
  }

  /// PutBucketTagging.
  func putTags(of bucket: BucketName, _ call: S3Call) async throws(S3Fault) -> ServerResponse {
    let tags = try S3Tagging.tags(in: try await document(of: call))
    return try await change(bucket, call) { $0.tags = tags }
  }

  func deleteTags(of bucket: BucketName, _ call: S3Call) async throws(S3Fault) -> ServerResponse {
    _ = try await change(bucket, call) { $0.tags = .empty }
    return S3Reply.done(.noContent)
  }

  private func change(
    _ bucket: BucketName, _ call: S3Call,
    _ body: @escaping @Sendable (inout BucketSettings) -> Void
  ) async throws(S3Fault) -> ServerResponse {
    try await S3Fault.translating { () async throws(Failure) in
      try await files.changeSettings(of: bucket, by: call.caller, body)
    }
    return S3Reply.done()
  }
}
