import HTTPTypes

extension ServerResponse {
  /// A problem as a handler's answer.
  package static func problem(
    _ problem: ServerProblem, requestID: String,
    renderer: any ProblemRenderer = PlainProblemRenderer()
  ) -> ServerResponse {
    ServerResponse(
      status: HTTPResponse.Status(code: problem.status),
      fields: [.contentType: "application/problem+json", .cacheControl: "no-store"],
      body: .bytes(renderer.render(problem, requestID: requestID)))
  }
}
