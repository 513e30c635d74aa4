import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model
import S3Wire

extension S3Endpoint {
  /// GetObjectTagging.
  func readTags(
    of address: ObjectAddress, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    let tags = try await S3Fault.translating { () async throws(Failure) in
      try await files.tags(of: address, by: call.caller)
    }
    return S3Tagging.document(tags)
  }

  /// PutObjectTagging.
  func putTags(
    of address: ObjectAddress, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    let tags = try S3Tagging.tags(in: try await document(of: call))
    try await S3Fault.translating { () async throws(Failure) in
      try await files.setTags(tags, of: address, by: call.caller)
    }
    return S3Reply.done()
  }

  /// DeleteObjectTagging.
  func deleteTags(
    of address: ObjectAddress, _ call: S3Call
  ) async throws(S3Fault) -> ServerResponse {
    try await S3Fault.translating { () async throws(Failure) in
      try await files.setTags(.empty, of: address, by: call.caller)
    }
    return S3Reply.done(.noContent)
  }
}
