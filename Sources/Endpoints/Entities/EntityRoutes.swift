import HTTPServer
import HTTPWire

/// The rows of the route table below `/v1/entities`, and of the search: reads alone. Other methods
/// are 405.
struct EntityRoutes {
  let entities: EntitiesEndpoint

  var all: [Route] {
    [
      Route(.get, "/v1/entities") { await entities.types($0) },
      Route(.get, "/v1/entities/{type}") { await entities.collection($0) },
      Route(.get, "/v1/entities/{type}/{id}") { await entities.entity($0) },
      Route(.get, "/v1/entities/{type}/{id}/{relationship}") {
        await entities.relationship($0)
      },
      Route(.get, "/v1/search") { await entities.search($0) },
    ]
  }
}
