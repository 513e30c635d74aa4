import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model

/// `/v1/files`: buckets and objects.
///
/// A key is whatever the path has behind its bucket. `POST` names what is to be done behind the
/// key: `uploads`, `presign`, `copy`.
struct FilesEndpoint: Sendable {
  let context: EndpointContext
  let services: FileServices
  let shelf: FileResponseCache

  var files: FileService { services.files }

  /// As many bytes as one request may carry in S3. Larger objects come in parts.
  private static let objectContent = ContentRule(bytesMax: 5 << 30, keepsCoding: true)

  static let lines = [
    line(.get, "/v1/files") { await $0.listBuckets($1) },
    line(.get, "/v1/files/{bucket}") { await $0.get($1) },
    line(.put, "/v1/files/{bucket}") { await $0.put($1) },
    line(.delete, "/v1/files/{bucket}") { await $0.delete($1) },
    line(.get, "/v1/files/{bucket}/{key*}") { await $0.get($1) },
    line(.put, "/v1/files/{bucket}/{key*}", content: objectContent) { await $0.put($1) },
    line(.delete, "/v1/files/{bucket}/{key*}") { await $0.delete($1) },
    line(.post, "/v1/files/{bucket}/{key*}") { await $0.post($1) },
  ]

  private static func line(
    _ method: RequestMethod, _ pattern: RoutePattern, content: ContentRule = ContentRule(),
    respond: @escaping @Sendable (FilesEndpoint, ServerRequest) async -> ServerResponse
  ) -> RouteLine {
    RouteLine(method, pattern, content: content) { endpoints, request in
      await respond(endpoints.storedFiles, request)
    }
  }

  func get(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      guard try FileTarget.keyText(of: request) != nil else { return try await list(request) }
      let query = try FileQuery(request)
      if let id = query["uploadId"] { return try await listParts(request, id: id, query) }
      return try await read(request, query)
    }
  }

  func put(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      guard try FileTarget.keyText(of: request) != nil else {
        return try await createBucket(request)
      }
      let query = try FileQuery(request)
      if let id = query["uploadId"] { return try await writePart(request, id: id, query) }
      return try await write(request, query)
    }
  }

  func delete(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      guard try FileTarget.keyText(of: request) != nil else {
        return try await deleteBucket(request)
      }
      let query = try FileQuery(request)
      if let id = query["uploadId"] { return try await abortUpload(request, id: id) }
      return try await remove(request, query)
    }
  }

  func post(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
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
        .notFound, "What is to be done stands behind the key: /uploads, /presign or /copy.")
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

  /// By what the request may be let through: a link that was signed here, or who asks.
  func grant(_ request: ServerRequest, _ query: FileQuery) async throws(Failure) -> FileGrant {
    if let signature = query["signature"] {
      return .link(expires: query["expires"] ?? "", signature: signature)
    }
    return .caller(try await context.caller(of: request))
  }
}
