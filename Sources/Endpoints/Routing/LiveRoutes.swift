import HTTPServer
import HTTPWire
import Model

/// The lines of the route table for streams of lists, and for live streams of many subjects.
enum LiveRoutes {
  static let lines: [RouteLine] = [
    RouteLine(.get, "/v1/entities/{type}/stream", ticket: .stream) {
      await $0.listStreams.collection($1)
    },
    RouteLine(.get, "/v1/entities/{type}/{id}/stream", ticket: .stream) {
      await $0.listStreams.entity($1)
    },
    RouteLine(.get, "/v1/entities/{type}/{id}/{relationship}/stream", ticket: .stream) {
      await $0.listStreams.relationship($1)
    },
    RouteLine(.post, "/v1/live", effect: .reads) { await $0.live.open($1) },
    RouteLine(.patch, "/v1/live/{streamId}", effect: .reads) { await $0.live.change($1) },
  ]
}
