import Gateway
import HTTPServer
import HTTPWire

/// The lines of one operation: the path that its `@route` asks for, and below it what every query
/// has. No operation may take those: a route whose path has one of their words is refused.
enum OperationRoutes {
  static func lines(_ description: OperationDescription) -> [RouteLine] {
    guard let path = description.route, let pattern = RoutePattern("/api\(path)"),
      let stream = RoutePattern("/api\(path)/stream"), let diff = RoutePattern("/api\(path)/diff")
    else { return [] }
    let name = description.name
    switch description.kind {
    case .query:
      return [
        RouteLine(.get, pattern, of: name) {
          await $0.operation.get($1, operation: name, by: .routed)
        },
        RouteLine(.get, stream, of: name) {
          await $0.operation.stream($1, operation: name, by: .routed)
        },
        RouteLine(.get, diff, of: name) {
          await $0.diffs.operation($1, named: name, by: .routed)
        },
        RouteLine(.post, diff, of: name) {
          await $0.diffs.operation($1, named: name, by: .routed)
        },
      ]
    case .mutation:
      return [
        RouteLine(.post, pattern, of: name) {
          await $0.operation.post($1, operation: name, by: .routed)
        }
      ]
    case .subscription: return []
    }
  }
}
