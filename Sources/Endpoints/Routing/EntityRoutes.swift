import HTTPServer
import HTTPWire
import Model

/// The lines of the route table for reads below `/v1/entities`, and for the search.
enum EntityRoutes {
  static let lines: [RouteLine] = [
    RouteLine(.get, "/v1/entities") { await $0.entities.types($1) },
    RouteLine(.get, "/v1/entities/{type}") { await $0.entities.collection($1) },
    RouteLine(.get, "/v1/entities/{type}/diff") { await $0.diffs.collection($1) },
    RouteLine(.post, "/v1/entities/{type}/diff", effect: .reads, place: .anyNode) {
      await $0.diffs.collection($1)
    },
    RouteLine(.get, "/v1/entities/{type}/{id}") { await $0.entities.entity($1) },
    RouteLine(.get, "/v1/entities/{type}/{id}/{relationship}") {
      await $0.entities.relationship($1)
    },
    RouteLine(.get, "/v1/entities/{type}/{id}/{relationship}/diff") {
      await $0.diffs.relationship($1)
    },
    RouteLine(
      .post, "/v1/entities/{type}/{id}/{relationship}/diff", effect: .reads, place: .anyNode
    ) {
      await $0.diffs.relationship($1)
    },
    RouteLine(.get, "/v1/search") { await $0.entities.search($1) },
  ]
}

/// The lines for writes below `/v1/entities`.
extension EntityWritesEndpoint {
  static let lines = [
    line(.post, "/v1/entities") { await $0.list($1) },
    line(.post, "/v1/entities/{type}") { await $0.one($1, .insert) },
    line(.patch, "/v1/entities/{type}") { await $0.many($1, .update) },
    line(.delete, "/v1/entities/{type}") { await $0.many($1, .delete) },
    line(.put, "/v1/entities/{type}/{id}") { await $0.replace($1) },
    line(.patch, "/v1/entities/{type}/{id}") { await $0.one($1, .update) },
    line(.delete, "/v1/entities/{type}/{id}") { await $0.one($1, .delete) },
  ]

  private static func line(
    _ method: RequestMethod, _ pattern: RoutePattern,
    respond: @escaping @Sendable (EntityWritesEndpoint, ServerRequest) async -> ServerResponse
  ) -> RouteLine {
    RouteLine(method, pattern) { endpoints, request in
      await respond(endpoints.writes, request)
    }
  }
}
