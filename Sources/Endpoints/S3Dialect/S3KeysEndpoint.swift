import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model

/// `/v1/admin/s3/keys`: the access keys of the S3 dialect.
struct S3KeysEndpoint: Sendable {
  let context: EndpointContext
  let keys: S3Keys

  static let lines = [
    line(.post, "/v1/admin/s3/keys") { await $0.issue($1) },
    line(.get, "/v1/admin/s3/keys") { await $0.list($1) },
    line(.delete, "/v1/admin/s3/keys/{id}") { await $0.revoke($1) },
  ]

  private static func line(
    _ method: RequestMethod, _ pattern: RoutePattern,
    respond: @escaping @Sendable (S3KeysEndpoint, ServerRequest) async -> ServerResponse
  ) -> RouteLine {
    RouteLine(method, pattern) { endpoints, request in
      await respond(endpoints.s3Keys, request)
    }
  }

  private func issue(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      try await context.requireAdmin(request)
      let wish = try S3KeyDocument.wish(try await context.json(of: request))
      let issued = try await keys.issue(
        user: wish.user, buckets: wish.buckets, isReadOnly: wish.isReadOnly)
      return .json(S3KeyDocument.bytes(issued), status: .created)
    }
  }

  private func list(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      try await context.requireAdmin(request)
      return .json(S3KeyDocument.bytes(try await keys.all()))
    }
  }

  private func revoke(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      try await context.requireAdmin(request)
      try await keys.revoke(request.parameters["id"] ?? "")
      return ServerResponse(status: .noContent, fields: [.cacheControl: "no-store"])
    }
  }
}
