package import HTTPServer
import HTTPWire

/// What addresses of their own for metrics answer: `/metrics` and nothing else.
package struct MetricsHandler: RequestHandler {
  private let router: Router

  package init(_ metrics: MetricsEndpoint) throws(RouteTable.Conflict) {
    router = try Router([
      Route(.get, LarderRoutes.metricsPattern) { metrics.respond(to: $0) }
    ])
  }

  package func respond(to request: ServerRequest) async -> ServerResponse {
    await router.respond(to: request)
  }
}
