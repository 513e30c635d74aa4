import Gateway
import HTTPServer
import HTTPWire
import Model

extension S3Operation {
  static let all: [S3Operation] =
    onService + onBuckets + [form] + onConfigurations + onSettings + onObjects + onUploads

  private static let onService: [S3Operation] = [
    .service(
      .get, .head, parameters: ["bucket-region", "continuation-token", "max-buckets", "prefix"]
    ) { endpoint, call async throws(S3Fault) in
      try await endpoint.listBuckets(call)
    }
  ]

  /// Query names of both versions of ListObjects; each ignores the other's.
  private static let listing: Set<String> = [
    "continuation-token", "delimiter", "encoding-type", "fetch-owner", "marker", "max-keys",
    // MinIO's clients request a MinIO extension by it, and work without.
    "metadata",
    "prefix", "start-after",
  ]

  private static let onBuckets: [S3Operation] = [
    .bucket(.head) { endpoint, bucket, call async throws(S3Fault) in
      try await endpoint.headBucket(bucket, call)
    },
    .bucket(.get, parameters: listing) { endpoint, bucket, call async throws(S3Fault) in
      try await endpoint.listObjectsByMarker(bucket, call)
    },
    .bucket(.get, by: ["list-type"], parameters: listing) {
      endpoint, bucket, call async throws(S3Fault) in
      guard call.query["list-type"] == "2" else {
        throw S3Fault(.invalidArgument, "list-type must be 2.")
      }
      return try await endpoint.listObjects(bucket, call)
    },
    .bucket(
      .get, by: ["uploads"],
      parameters: [
        "delimiter", "encoding-type", "key-marker", "max-uploads", "prefix", "upload-id-marker",
      ]
    ) { endpoint, bucket, call async throws(S3Fault) in
      try await endpoint.listUploads(bucket, call)
    },
    .bucket(
      .get, by: ["versions"],
      parameters: [
        "delimiter", "encoding-type", "key-marker", "max-keys", "prefix", "version-id-marker",
      ]
    ) { endpoint, bucket, call async throws(S3Fault) in
      try await endpoint.listVersions(bucket, call)
    },
    .bucket(.put) { endpoint, bucket, call async throws(S3Fault) in
      try await endpoint.createBucket(bucket, call)
    },
    .bucket(.put, by: ["acl"]) { endpoint, bucket, call async throws(S3Fault) in
      _ = try await endpoint.headBucket(bucket, call)
      return try await endpoint.putAccessControl(call)
    },
    .bucket(.delete) { endpoint, bucket, call async throws(S3Fault) in
      try await endpoint.deleteBucket(bucket, call)
    },
    .bucket(.post, by: ["delete"]) { endpoint, bucket, call async throws(S3Fault) in
      try await endpoint.deleteObjects(in: bucket, call)
    },
  ]

  private static let form: S3Operation = {
    var form = S3Operation.bucket(.post) { endpoint, bucket, call async throws(S3Fault) in
      try await endpoint.postForm(to: bucket, call)
    }
    form.isAllowedByContent = true
    return form
  }()

  private static let onConfigurations = S3BucketConfiguration.allCases.map { configuration in
    S3Operation.bucket(.get, by: [configuration.rawValue]) {
      endpoint, bucket, call async throws(S3Fault) in
      configuration == .encryption || configuration == .tagging
        ? try await endpoint.readSettings(configuration, of: bucket, call)
        : try await endpoint.readConfiguration(configuration, of: bucket, call)
    }
  }

  private static let onSettings: [S3Operation] = [
    .bucket(.put, by: ["encryption"]) { endpoint, bucket, call async throws(S3Fault) in
      try await endpoint.putEncryption(of: bucket, call)
    },
    .bucket(.delete, by: ["encryption"]) { endpoint, bucket, call async throws(S3Fault) in
      try await endpoint.deleteEncryption(of: bucket, call)
    },
    .bucket(.put, by: ["tagging"]) { endpoint, bucket, call async throws(S3Fault) in
      try await endpoint.putTags(of: bucket, call)
    },
    .bucket(.delete, by: ["tagging"]) { endpoint, bucket, call async throws(S3Fault) in
      try await endpoint.deleteTags(of: bucket, call)
    },
  ]

  private static let responseFields = Set(S3ResponseOverrides.names.map(\.parameter))

  private static let onObjects: [S3Operation] = [
    .object(.get, .head, parameters: responseFields.union(["partNumber", "versionId"])) {
      endpoint, address, call async throws(S3Fault) in
      try await endpoint.readObject(address, call)
    },
    .object(.get, .head, by: ["attributes"], parameters: ["versionId"]) {
      endpoint, address, call async throws(S3Fault) in
      try await endpoint.describeObject(address, call)
    },
    .object(.get, .head, by: ["acl"], parameters: ["versionId"]) {
      endpoint, address, call async throws(S3Fault) in
      _ = try await endpoint.metadata(of: address, call)
      return S3BucketConfiguration.accessControl()
    },
    .object(.get, .head, by: ["tagging"], parameters: ["versionId"]) {
      endpoint, address, call async throws(S3Fault) in
      try await endpoint.readTags(of: address, call)
    },
    .object(.put, by: ["tagging"], parameters: ["versionId"]) {
      endpoint, address, call async throws(S3Fault) in
      try await endpoint.putTags(of: address, call)
    },
    .object(.put, by: ["acl"], parameters: ["versionId"]) {
      endpoint, address, call async throws(S3Fault) in
      _ = try await endpoint.metadata(of: address, call)
      return try await endpoint.putAccessControl(call)
    },
    .object(.put) { endpoint, address, call async throws(S3Fault) in
      call.field("x-amz-copy-source") == nil
        ? try await endpoint.putObject(address, call)
        : try await endpoint.copyObject(to: address, call)
    },
    .object(.delete, parameters: ["versionId"]) {
      endpoint, address, call async throws(S3Fault) in
      try await endpoint.deleteObject(address, call)
    },
    .object(.delete, by: ["tagging"], parameters: ["versionId"]) {
      endpoint, address, call async throws(S3Fault) in
      try await endpoint.deleteTags(of: address, call)
    },
  ]

  private static let onUploads: [S3Operation] = [
    .object(.post, by: ["uploads"]) { endpoint, address, call async throws(S3Fault) in
      try await endpoint.beginUpload(to: address, call)
    },
    .object(.put, by: ["uploadId", "partNumber"]) {
      endpoint, address, call async throws(S3Fault) in
      let upload = UploadAddress(object: address, id: call.query["uploadId"] ?? "")
      return call.field("x-amz-copy-source") == nil
        ? try await endpoint.putPart(of: upload, call)
        : try await endpoint.copyPart(of: upload, call)
    },
    .object(
      .get, .head, by: ["uploadId"],
      parameters: ["encoding-type", "max-parts", "part-number-marker"]
    ) { endpoint, address, call async throws(S3Fault) in
      try await endpoint.listParts(
        of: UploadAddress(object: address, id: call.query["uploadId"] ?? ""), call)
    },
    .object(.post, by: ["uploadId"]) { endpoint, address, call async throws(S3Fault) in
      try await endpoint.completeUpload(
        UploadAddress(object: address, id: call.query["uploadId"] ?? ""), call)
    },
    .object(.delete, by: ["uploadId"]) { endpoint, address, call async throws(S3Fault) in
      try await endpoint.abortUpload(
        UploadAddress(object: address, id: call.query["uploadId"] ?? ""), call)
    },
  ]
}
