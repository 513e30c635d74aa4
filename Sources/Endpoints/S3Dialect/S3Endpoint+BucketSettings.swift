import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model
import S3Wire

extension S3Endpoint {
  /// GetBucketEncryption, and GetBucketTagging.
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
      return try configuration.answer(region: call.region)
    }
  }

  /// PutBucketEncryption: what an operator's disk does is the one kind there is.
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
      throw S3Fault(.notImplemented, "Of algorithms only AES256 is taken.")
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
