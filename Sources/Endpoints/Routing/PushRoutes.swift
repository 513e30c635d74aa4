import HTTPServer
import HTTPWire

/// The lines of the route table for notifications.
enum PushRoutes {
  static let lines = [
    RouteLine(.get, "/v1/push/registration") { await $0.push.showRegistration($1) },
    RouteLine(.put, "/v1/push/registration") { await $0.push.register($1) },
    RouteLine(.delete, "/v1/push/registration") { await $0.push.unregister($1) },
    RouteLine(.post, "/v1/push/notifications") { await $0.push.send($1) },
    RouteLine(.get, "/v1/push/notifications/{id}") { await $0.push.show($1) },

    RouteLine(.get, "/v1/admin/push/notifications") { await $0.push.list($1) },
  ]
}
