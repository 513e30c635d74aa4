package import Gateway
package import HTTPServer
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model

/// `/v1/files`: buckets and objects.
///
/// The key is the rest of the path after the bucket. A `POST` has an action after the key: `uploads`,
/// `presign` or `copy`.
struct FilesEndpoint: Sendable {
  let context: EndpointContext
  let services: FileServices
  let cache: FileResponseCache

  var files: FileService { services.files }

  func get(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      guard try FileTarget.keyText(of: request) != nil else { return try await list(request) }
      let query = try FileQuery(request)
      if let id = query["uploadId"] { return try await listParts(request, id: id, query) }
      return try await read(request, query)
    }
  }

  func put(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      guard try FileTarget.keyText(of: request) != nil else {
        return try await createBucket(request)
      }
      let query = try FileQuery(request)
      if let id = query["uploadId"] { return try await writePart(request, id: id, query) }
      return try await write(request, query)
    }
  }

  func delete(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      guard try FileTarget.keyText(of: request) != nil else {
        return try await deleteBucket(request)
      }
      let query = try FileQuery(request)
      if let id = query["uploadId"] { return try await abortUpload(request, id: id) }
      return try await remove(request, query)
    }
  }

  func post(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let bucket = try FileTarget.bucket(of: request)
      let query = try FileQuery(request)
      let text = try FileTarget.keyText(of: request) ?? ""
      if let id = query["uploadId"] {
        return try await completeUpload(
          request, ObjectAddress(bucket: bucket, key: try FileTarget.key(text)), id: id)
      }
      for (suffix, action) in Self.actions where text.hasSuffix(suffix) {
        let key = try FileTarget.key(String(text.dropLast(suffix.count)))
        return try await action(self, request, ObjectAddress(bucket: bucket, key: key))
      }
      throw Failure(
        .notFound, "POST needs an action after the key: /uploads, /presign or /copy.")
    }
  }

  private typealias Action =
    @Sendable (FilesEndpoint, ServerRequest, ObjectAddress) async throws(Failure) -> ServerResponse

  private static let actions: [(String, Action)] = [
    (
      "/uploads",
      { endpoint, request, address async throws(Failure) in
        try await endpoint.beginUpload(request, address)
      }
    ),
    (
      "/presign",
      { endpoint, request, address async throws(Failure) in
        try await endpoint.presign(request, address)
      }
    ),
    (
      "/copy",
      { endpoint, request, address async throws(Failure) in
        try await endpoint.copy(request, address)
      }
    ),
  ]

  /// The authority of a request: a presigned link, or its caller.
  func grant(_ request: ServerRequest, _ query: FileQuery) async throws(Failure) -> FileGrant {
    if let signature = query["signature"] {
      return .link(expires: query["expires"] ?? "", signature: signature)
    }
    return .caller(try await context.caller(of: request))
  }
}

/// The dependencies of the routes of files, made by Composition.
package struct FileServices: Sendable {
  package let files: FileService
  package let opened: OpenedFiles
  /// The base URL at which clients reach this service, without a trailing slash.
  package let publicURL: @Sendable () -> String

  package init(
    files: FileService, opened: OpenedFiles, publicURL: @escaping @Sendable () -> String
  ) {
    self.files = files
    self.opened = opened
    self.publicURL = publicURL
  }
}

extension FilesEndpoint {
  func listBuckets(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
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
    var listing = ObjectListRequest(
      prefix: query["prefix"] ?? "", delimiter: query["delimiter"], after: query["start-after"],
      limit: try query.number("max-keys", in: 0...Int(Int32.max)) ?? ObjectListRequest.limitMax)
    if let text = query["continuation-token"] {
      guard let token = ListTokenText.decode(text) else {
        throw Failure(
          .malformedRequest, "The request is invalid.",
          details: [
            Failure.Detail(
              place: .parameter("continuation-token"),
              detail: "is not a continuation token of this service")
          ])
      }
      listing.token = token
    }
    let (page, prefix) = try await files.list(bucket, listing, for: caller)
    listing.prefix = prefix
    return .json(FileListingDocument.bytes(page, of: bucket, listing))
  }
}
