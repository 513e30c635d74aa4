import HTTPServer
import HTTPWire

/// The lines of the route table for webhooks.
enum HookRoutes {
  static let lines = [
    RouteLine(.post, "/v1/hooks/{name}") { await $0.hooks.receive($1) },

    RouteLine(.get, "/v1/admin/hooks") { await $0.hooks.list($1) },
  ]
}
