import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model
import S3Wire

extension S3Endpoint {
  func listBuckets(_ call: S3Call) async throws(S3Fault) -> ServerResponse {
    let buckets = try await S3Fault.translating { () async throws(Failure) in
      try await files.buckets(within: call.access.grant)
    }
    var writer = XMLWriter("ListAllMyBucketsResult")
    writer.owner()
    writer.element("Buckets") { writer in
      for bucket in buckets {
        writer.element("Bucket") { writer in
          writer.element("Name", bucket.name.text)
          writer.element("CreationDate", bucket.created)
        }
      }
    }
    return S3Reply.document(writer)
  }

  /// Looks at a bucket, or lists what is in it.
  func readBucket(_ bucket: BucketName, _ call: S3Call) async throws(S3Fault) -> ServerResponse {
    if call.request.method == .head {
      try await find(bucket, call)
      var response = S3Reply.done()
      if let name = HTTPField.Name("x-amz-bucket-region") { response.fields[name] = call.region }
      return response
    }
    if let configuration = S3BucketConfiguration.allCases.first(where: { call.has($0.rawValue) }) {
      try await find(bucket, call)
      return try configuration.answer(region: call.region)
    }
    if call.has("uploads") { return try await listUploads(bucket, call) }
    if call.has("versions") {
      throw S3Fault(.notImplemented, "Versions of objects are not kept here.")
    }
    return call.query["list-type"] == "2"
      ? try await listObjects(bucket, call) : try await listObjectsByMarker(bucket, call)
  }

  func createBucket(_ bucket: BucketName, _ call: S3Call) async throws(S3Fault) -> ServerResponse {
    try refuseConfiguring(call)
    try S3WriteFields.check(call)
    // A bucket is where the service is, whatever place is asked for.
    if call.request.head.hasBody { _ = try await document(of: call) }
    try await S3Fault.translating { () async throws(Failure) in
      try await files.createBucket(bucket, by: call.caller)
    }
    var response = S3Reply.done()
    response.fields[.location] = "/\(bucket.text)"
    return response
  }

  func deleteBucket(_ bucket: BucketName, _ call: S3Call) async throws(S3Fault) -> ServerResponse {
    try refuseConfiguring(call)
    try await S3Fault.translating { () async throws(Failure) in
      try await files.deleteBucket(bucket, by: call.caller)
    }
    return S3Reply.done(.noContent)
  }

  func postToBucket(_ bucket: BucketName, _ call: S3Call) async throws(S3Fault) -> ServerResponse {
    guard call.has("delete") else {
      throw S3Fault(.notImplemented, "Forms are not taken here, nor other POSTs to a bucket.")
    }
    return try await deleteObjects(in: bucket, call)
  }

  private func find(_ bucket: BucketName, _ call: S3Call) async throws(S3Fault) {
    _ = try await S3Fault.translating { () async throws(Failure) in
      try await files.bucket(bucket, for: call.caller)
    }
  }

  /// How a bucket behaves is said in settings.
  private func refuseConfiguring(_ call: S3Call) throws(S3Fault) {
    guard let name = S3BucketConfiguration.changed(by: call.query) else { return }
    throw S3Fault(.notImplemented, "A bucket's \(name) is not set here.")
  }
}
