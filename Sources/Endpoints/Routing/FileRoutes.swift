import HTTPServer
import HTTPWire

/// The lines of the route table below `/v1/files`.
extension FilesEndpoint {
  /// The same limit on one request as in S3. Larger objects are uploaded in parts.
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
      guard let files = endpoints.storedFiles else { return .problem(.notFound, for: request) }
      return await respond(files, request)
    }
  }
}

/// The lines of the S3 dialect.
extension S3Endpoint {
  static let lines: [RouteLine] =
    ["/s3", "/s3/"].map { line(.get, $0) }
    + ["/s3/{bucket}", "/s3/{bucket}/{key*}"].flatMap { (pattern: RoutePattern) in
      [RequestMethod.get, .put, .post, .delete].map { line($0, pattern) }
    }

  private static func line(_ method: RequestMethod, _ pattern: RoutePattern) -> RouteLine {
    RouteLine(
      method, pattern, ticket: .ignored, operators: .ignored, content: content,
      refuseMethod: { endpoints, request in
        endpoints.s3?.refuseMethod(request) ?? .problem(.notFound, for: request)
      },
      respond: { endpoints, request in
        await endpoints.s3?.respond(to: request) ?? .problem(.notFound, for: request)
      })
  }
}

/// The lines for the access keys of the S3 dialect.
extension S3KeysEndpoint {
  static let lines = [
    line(.post, "/v1/admin/s3/keys", reach: .everyNode) { await $0.issue($1) },
    line(.get, "/v1/admin/s3/keys") { await $0.list($1) },
    line(.delete, "/v1/admin/s3/keys/{id}", reach: .everyNode) { await $0.revoke($1) },
  ]

  private static func line(
    _ method: RequestMethod, _ pattern: RoutePattern, reach: WriteReach = .leader,
    respond: @escaping @Sendable (S3KeysEndpoint, ServerRequest) async -> ServerResponse
  ) -> RouteLine {
    RouteLine(method, pattern, reach: reach) { endpoints, request in
      guard let keys = endpoints.s3Keys else { return .problem(.notFound, for: request) }
      return await respond(keys, request)
    }
  }
}
