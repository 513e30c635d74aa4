import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model

extension FilesEndpoint {
  func listBuckets(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      let buckets = try await files.buckets(for: try await context.caller(of: request))
      return .json(FileListingDocument.bytes(buckets))
    }
  }

  func createBucket(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
    let bucket = try FileTarget.bucket(of: request)
    try await files.createBucket(bucket, by: try await context.caller(of: request))
    return ServerResponse(
      status: .created,
      fields: [.cacheControl: "no-store", .location: "/v1/files/\(bucket.text)"])
  }

  func deleteBucket(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
    let bucket = try FileTarget.bucket(of: request)
    try await files.deleteBucket(bucket, by: try await context.caller(of: request))
    return ServerResponse(status: .noContent, fields: [.cacheControl: "no-store"])
  }

  func list(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
    let bucket = try FileTarget.bucket(of: request)
    let caller = try await context.caller(of: request)
    let query = try FileQuery(request)
    if query.contains("uploads") {
      return try await listUploads(bucket, query, for: caller)
    }
    var wish = ObjectListRequest(
      prefix: query["prefix"] ?? "", delimiter: query["delimiter"], after: query["start-after"],
      limit: try query.number("max-keys", in: 0...Int(Int32.max)) ?? ObjectListRequest.limitMax)
    if let text = query["continuation-token"] {
      guard let token = ListTokenText.decode(text) else {
        throw Failure(
          .malformedRequest, "The request cannot be read.",
          details: [
            Failure.Detail(
              place: .parameter("continuation-token"), detail: "is none that was given here")
          ])
      }
      wish.token = token
    }
    let (page, prefix) = try await files.list(bucket, wish, for: caller)
    wish.prefix = prefix
    return .json(FileListingDocument.bytes(page, of: bucket, wish))
  }
}
