import HTTPServer
import HTTPWire

/// The rows of the route table below `/v1/entities`, and of the search: reads alone. Other methods
/// are 405.
enum EntityRoutes {
  static let lines: [RouteLine] = [
    RouteLine(.get, "/v1/entities") { await $0.entities.types($1) },
    RouteLine(.get, "/v1/entities/{type}") { await $0.entities.collection($1) },
    RouteLine(.get, "/v1/entities/{type}/diff") { await $0.diffs.collection($1) },
    RouteLine(.post, "/v1/entities/{type}/diff") { await $0.diffs.collection($1) },
    RouteLine(.get, "/v1/entities/{type}/{id}") { await $0.entities.entity($1) },
    RouteLine(.get, "/v1/entities/{type}/{id}/{relationship}") {
      await $0.entities.relationship($1)
    },
    RouteLine(.get, "/v1/entities/{type}/{id}/{relationship}/diff") {
      await $0.diffs.relationship($1)
    },
    RouteLine(.post, "/v1/entities/{type}/{id}/{relationship}/diff") {
      await $0.diffs.relationship($1)
    },
    RouteLine(.get, "/v1/search") { await $0.entities.search($1) },
  ]
}
