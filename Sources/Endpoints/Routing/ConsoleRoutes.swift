import HTTPServer
import HTTPWire
import Model

/// The lines of the route table for the console: signing in, and what only operators see.
enum ConsoleRoutes {
  static let lines: [RouteLine] = [
    RouteLine(.post, "/v1/admin/session", operators: .ignored) { await $0.session.signIn($1) },
    RouteLine(.get, "/v1/admin/session", operators: .ignored, place: .leader) {
      await $0.session.show($1)
    },
    RouteLine(.delete, "/v1/admin/session", operators: .ignored) { await $0.session.signOut($1) },

    RouteLine(.get, "/v1/admin/backups") { await $0.maintenance.listBackups($1) },
    RouteLine(.get, "/v1/admin/devices") { await $0.operatedDevices.list($1) },
    RouteLine(.get, "/v1/admin/devices/{device}") { await $0.operatedDevices.show($1) },
    RouteLine(.get, "/v1/admin/entities/{type}/{id}") { await $0.provenance.show($1) },
    RouteLine(.get, "/v1/admin/logs") { await $0.logs.list($1) },
    RouteLine(.get, "/v1/admin/operations") { await $0.overview.listOperations($1) },
    RouteLine(.get, "/v1/admin/overview") { await $0.overview.show($1) },
    RouteLine(.get, "/v1/admin/overview/stream") { await $0.overview.stream($1) },
    RouteLine(.get, "/v1/admin/settings") { await $0.settings.list($1) },
    RouteLine(.get, "/v1/admin/users") { await $0.users.list($1) },
    RouteLine(.get, "/v1/admin/users/{user}") { await $0.users.show($1) },
    RouteLine(.post, "/v1/admin/users/{user}/sign-out", reach: .everyNode) {
      await $0.users.signOut($1)
    },
    RouteLine(.post, "/v1/admin/users/{user}/disable", reach: .everyNode) {
      await $0.users.disable($1)
    },
    RouteLine(.post, "/v1/admin/users/{user}/enable", reach: .everyNode) {
      await $0.users.enable($1)
    },
  ]
}
