import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model
import S3Wire

extension S3Endpoint {
  private static let firstRegion = "us-east-1"
  /// Buckets of one page, as in S3.
  private static let bucketsMax = 10_000

  func listBuckets(_ call: S3Call) async throws(S3Fault) -> ServerResponse {
    let limit = try call.number("max-buckets", in: 1...Self.bucketsMax)
    let prefix = call.query["prefix"]
    var after = ""
    if let text = call.query["continuation-token"], !text.isEmpty {
      guard case .key(let name) = ListTokenText.decode(text)?.place else {
        throw S3Fault(.invalidArgument, "The continuation token is none that was given here.")
      }
      after = name
    }
    let all = try await S3Fault.translating { () async throws(Failure) in
      try await files.buckets(within: call.access.grant)
    }
    let isElsewhere = call.query["bucket-region"].map { $0 != call.region } ?? false
    let rest = all.filter {
      !isElsewhere && $0.name.text.hasPrefix(prefix ?? "") && $0.name.text > after
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
    return try configuration.answer(region: call.region)
  }

  /// PutBucketAcl and PutObjectAcl, of the one list that there is.
  func putAccessControl(_ call: S3Call) async throws(S3Fault) -> ServerResponse {
    try S3WriteFields.check(call)
    if call.field("x-amz-acl") == nil {
      try S3AccessControl.check(try await document(of: call))
    }
    return S3Reply.done()
  }

  func createBucket(_ bucket: BucketName, _ call: S3Call) async throws(S3Fault) -> ServerResponse {
    try S3WriteFields.check(call)
    // A bucket is where the service is, whatever place is asked for.
    if call.request.head.hasBody { _ = try await document(of: call) }
    do throws(Failure) {
      try await files.createBucket(bucket, by: call.caller)
    } catch {
      // In the first region of S3 a bucket of one's own can be made again, and stays what it is.
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
