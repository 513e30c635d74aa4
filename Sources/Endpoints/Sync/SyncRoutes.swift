import HTTPServer
import HTTPWire
import Model

/// The rows of the route table for the sync queue.
struct SyncRoutes {
  let mutations: MutationsEndpoint
  let queue: QueueEndpoint

  var all: [Route] {
    [
      Route(.post, "/v1/mutations") { await mutations.post($0) },
      Route(.get, "/v1/mutations") { await mutations.list($0) },
      Route(.get, "/v1/mutations/{id}") { await mutations.show($0) },
      Route(.delete, "/v1/mutations/{id}") { await mutations.perform($0) { .cancel($0) } },
      Route(.post, "/v1/mutations/{id}/retry") { await mutations.perform($0) { .retry($0) } },
      Route(.post, "/v1/mutations/{id}/discard") { await mutations.perform($0) { .discard($0) } },

      Route(.get, "/v1/queue") { await queue.show($0) },
      Route(.post, "/v1/queue/pause") { await queue.perform($0, .pause) },
      Route(.post, "/v1/queue/resume") { await queue.perform($0, .resume) },
      Route(.post, "/v1/queue/flush") { await queue.perform($0, .flush) },

      Route(.get, "/v1/admin/queues") { await queue.list($0) },
      Route(.get, "/v1/admin/queues/{device}/mutations") { await queue.showMutations($0) },
      Route(.post, "/v1/admin/queues/{device}/pause") { await queue.operate($0) { _ in .pause } },
      Route(.post, "/v1/admin/queues/{device}/resume") { await queue.operate($0) { _ in .resume } },
      Route(.post, "/v1/admin/queues/{device}/flush") { await queue.operate($0) { _ in .flush } },
      Route(.post, "/v1/admin/queues/{device}/mutations/{id}/retry") {
        await queue.operate($0) { .retry($0) }
      },
      Route(.post, "/v1/admin/queues/{device}/mutations/{id}/discard") {
        await queue.operate($0) { .discard($0) }
      },
    ]
  }
}
