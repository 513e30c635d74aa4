import Gateway
package import HTTPServer
import HTTPTypes
package import HTTPWire
import LosslessJSON

/// The handler of every request: the response caches first, then CORS, then the routes.
package final class LarderHandler: RequestHandler {
  private let responseCache: ResponseCache
  private let deltas: DeltaResponseCache
  private let cors: CORSPolicy
  private let router: Router
  private let fileResponseCache: FileResponseCache
  /// The S3 dialect at the root, for its own addresses; nil if it is switched off.
  package let s3Root: S3RootHandler?
  package let names: RequestNames
  /// The routes served, as `METHOD /pattern`, in the order of the route table.
  package let served: [String]

  package init(_ services: Services) throws(RouteTable.Conflict) {
    let endpoints = EndpointSet(services)
    responseCache = endpoints.responseCache
    deltas = endpoints.deltas
    fileResponseCache = endpoints.fileResponseCache
    var policy = services.cors
    policy.forwardedNames = services.callers.forwardedNames
    cors = policy
    let lines = LarderRoutes.lines(
      for: services.operations.directory.operations, hasPages: services.files != nil,
      hasMetrics: services.hasMetrics, parts: services.parts)
    served = lines.map { "\($0.method.name) \($0.pattern)" }
    router = try Router(lines.map { $0.route(to: endpoints) })
    // The S3 dialect's route at the root comes after those of the table.
    names = RequestNames(
      routes: router.names.routes + [S3RootHandler.pattern], operations: endpoints.operationNames)
    let names = names
    s3Root = endpoints.s3.map {
      S3RootHandler(
        endpoint: $0, cors: services.cors, host: services.s3?.host, names: names,
        replica: endpoints.replica)
    }
  }

  package func answerAtOnce(
    _ head: borrowing RequestHead, content: UnsafeRawBufferPointer, stamp: ResponseStamp,
    into output: inout [UInt8]
  ) -> Bool {
    if s3Root?.handles(head) == true { return false }
    if let cached = responseCache.find(head, content: content) {
      return responseCache.write(cached, for: head, stamp: stamp, to: &output)
    }
    if deltas.writeResponse(to: head, stamp: stamp, into: &output) { return true }
    return fileResponseCache.writeResponse(to: head, stamp: stamp, into: &output)
  }

  /// Ends the responses that were cached for callers by their tokens, since the keys that sign tokens have
  /// changed.
  package func endCredentials() { responseCache.epoch.end() }

  package func contentRoute(for head: borrowing RequestHead) -> ContentRoute {
    guard let s3Root, s3Root.handles(head) else { return router.contentRoute(for: head) }
    return s3Root.contentRoute(for: head)
  }

  package func decorate(_ response: inout ServerResponse, for request: ServerRequest) {
    cors.decorate(&response, for: request)
  }

  package func refusal(
    of error: RequestError, path: ArraySlice<UInt8>, requestID: String
  ) -> RefusalContent? {
    guard s3Root != nil, S3Endpoint.contains(path) else { return nil }
    return S3Endpoint.refusal(of: error, path: path, requestID: requestID)
  }

  package func respond(to request: ServerRequest) async -> ServerResponse {
    if let s3Root, s3Root.handles(request.head) {
      return request.node == nil
        ? await s3Root.respond(to: request) : await s3Root.serve(request)
    }
    if let preflight = cors.preflight(request) { return preflight }
    var response = await router.respond(to: request)
    if request.method == .options, response.fields[.allow]?.contains("PATCH") == true {
      response.fields[.acceptPatch] = ServerResponse.acceptPatch
    }
    // What an operator saw is not for the next one at the same browser.
    if request.field(OperatorAccess.csrfFieldName) != nil {
      response.fields[.cacheControl] = "no-store"
    }
    cors.decorate(&response, for: request)
    return response
  }
}

/// The handler of the separate metrics addresses: `/metrics` and nothing else.
package struct MetricsHandler: RequestHandler {
  private let router: Router

  package init(_ metrics: MetricsEndpoint) throws(RouteTable.Conflict) {
    router = try Router([
      Route(.get, LarderRoutes.metricsPattern) { metrics.respond(to: $0) }
    ])
  }

  package var names: RequestNames { router.names }

  package func respond(to request: ServerRequest) async -> ServerResponse {
    await router.respond(to: request)
  }
}
