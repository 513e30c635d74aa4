import HTTPTypes

extension ServerResponse {
  /// A problem as a handler's answer.
  package static func problem(
    _ problem: ServerProblem, for request: ServerRequest
  ) -> ServerResponse {
    ServerResponse(
      status: HTTPResponse.Status(code: problem.status),
      fields: [.contentType: "application/problem+json", .cacheControl: "no-store"],
      body: .bytes(problem.document(path: request.path, requestID: request.id)))
  }
}
