import HTTPServer
import HTTPWire
import Model
import SyncScheduler

/// The lines of the route table for the sync queue.
enum SyncRoutes {
  static let lines = [
    RouteLine(.post, "/v1/mutations", place: .anyNode) { await $0.mutations.post($1) },
    RouteLine(.get, "/v1/mutations") { await $0.mutations.list($1) },
    RouteLine(.get, "/v1/mutations/{id}") { await $0.mutations.show($1) },
    RouteLine(.delete, "/v1/mutations/{id}") { await $0.mutations.perform($1) { .cancel($0) } },
    RouteLine(.post, "/v1/mutations/{id}/retry") { await $0.mutations.perform($1) { .retry($0) } },
    RouteLine(.post, "/v1/mutations/{id}/discard") {
      await $0.mutations.perform($1) { .discard($0) }
    },

    RouteLine(.get, "/v1/queue") { await $0.queue.show($1) },
    RouteLine(.post, "/v1/queue/pause") { await $0.queue.perform($1, .pause) },
    RouteLine(.post, "/v1/queue/resume") { await $0.queue.perform($1, .resume) },
    RouteLine(.post, "/v1/queue/flush") { await $0.queue.perform($1, .flush) },

    RouteLine(.get, "/v1/admin/queues") { await $0.queue.list($1) },
    RouteLine(.get, "/v1/admin/queues/{device}/mutations") { await $0.queue.showMutations($1) },
    RouteLine(.post, "/v1/admin/queues/{device}/pause") {
      await $0.queue.operate($1) { _ in .pause }
    },
    RouteLine(.post, "/v1/admin/queues/{device}/resume") {
      await $0.queue.operate($1) { _ in .resume }
    },
    RouteLine(.post, "/v1/admin/queues/{device}/flush") {
      await $0.queue.operate($1) { _ in .flush }
    },
    RouteLine(.post, "/v1/admin/queues/{device}/mutations/{id}/retry") {
      await $0.queue.operate($1) { .retry($0) }
    },
    RouteLine(.post, "/v1/admin/queues/{device}/mutations/{id}/discard") {
      await $0.queue.operate($1) { .discard($0) }
    },
  ]
}
