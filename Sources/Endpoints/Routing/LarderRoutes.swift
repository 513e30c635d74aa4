package import Gateway
import HTTPServer
import HTTPWire
import Model

/// The route table.
package enum LarderRoutes {
  /// All routes, in the order of the table.
  ///
  /// - Parameters:
  ///   - hasMetrics: false if `/metrics` is served on separate addresses.
  ///   - parts: the parts that are not switched off.
  package static func lines(
    for operations: [ServedOperation], hasPages: Bool, hasMetrics: Bool,
    parts: Set<ServicePart> = ServicePart.all
  ) -> [RouteLine] {
    own(hasMetrics: hasMetrics).filter { parts.serve($0.pattern.description) }
      + operations.flatMap(OperationRoutes.lines) + (hasPages ? publicFiles : [])
  }

  /// The routes that do not depend on the operations.
  private static func own(hasMetrics: Bool) -> [RouteLine] {
    fixed + (hasMetrics ? metrics : []) + SyncRoutes.lines + PushRoutes.lines + HookRoutes.lines
      + ConsoleRoutes.lines
      + FilesEndpoint.lines
      + S3KeysEndpoint.lines
      + S3Endpoint.lines
      + EntityRoutes.lines + EntityWritesEndpoint.lines + LiveRoutes.lines
  }

  private static let fixed: [RouteLine] = [
    RouteLine(.get, "/healthz") { $0.operating.alive($1) },
    RouteLine(.get, "/readyz") { await $0.operating.ready($1) },
    RouteLine(.get, "/openapi.json") { await $0.operating.openAPI($1) },
    RouteLine(.get, "/client/{file}") { $0.clientLibrary.respond(to: $1) },

    RouteLine(.get, "/v1/operations") { await $0.operating.list($1) },
    RouteLine(
      .get, "/v1/operations/{name}", ticket: .variable,
      refuseMethod: { $0.operation.refuseMethod($1) },
      respond: { await $0.operation.get($1) }),
    RouteLine(
      .post, "/v1/operations/{name}", effect: .readsUnlessMutation, place: .anyNode,
      refuseMethod: { $0.operation.refuseMethod($1) },
      respond: { await $0.operation.post($1) }),
    RouteLine(.get, "/v1/operations/{name}/stream", ticket: .stream, place: .leader) {
      await $0.operation.stream($1)
    },
    RouteLine(.get, "/v1/operations/{name}/diff", ticket: .variable) {
      await $0.diffs.operation($1)
    },
    RouteLine(.post, "/v1/operations/{name}/diff", effect: .reads, place: .anyNode) {
      await $0.diffs.operation($1)
    },

    RouteLine(.get, "/v1/graphql", ticket: .endpoint, effect: .readsUnlessMutation) {
      await $0.graphQL.get($1)
    },
    RouteLine(
      .post, "/v1/graphql", ticket: .endpoint, effect: .readsUnlessMutation, place: .anyNode
    ) {
      await $0.graphQL.post($1)
    },

    RouteLine(.post, "/v1/devices", reach: .everyNode) { await $0.devices.register($1) },
    RouteLine(.get, "/v1/devices/me") { await $0.devices.show($1) },
    RouteLine(.patch, "/v1/devices/me") { await $0.devices.change($1) },
    RouteLine(.delete, "/v1/devices/me", reach: .everyNode) { await $0.devices.remove($1) },
    RouteLine(.post, "/v1/devices/me/rotate", reach: .everyNode) { await $0.devices.rotate($1) },
    RouteLine(.post, "/v1/devices/me/reset", reach: .everyNode) { await $0.devices.reset($1) },
    RouteLine(.post, "/v1/devices/me/tokens", reach: .everyNode) {
      await $0.devices.issueToken($1)
    },
    RouteLine(.get, "/v1/devices/me/tokens") { await $0.devices.listTokens($1) },
    RouteLine(.delete, "/v1/devices/me/tokens/{id}", reach: .everyNode) {
      await $0.devices.removeToken($1)
    },
    RouteLine(.delete, "/v1/admin/devices/{device}", reach: .everyNode) {
      await $0.devices.removeForOperator($1)
    },

    RouteLine(.post, "/v1/auth/sign-up") { await $0.accounts.signUp($1) },
    RouteLine(.post, "/v1/auth/sign-in") { await $0.accounts.signIn($1) },
    RouteLine(.post, "/v1/auth/refresh") { await $0.accounts.refresh($1) },
    RouteLine(.post, "/v1/auth/sign-out", reach: .everyNode) { await $0.accounts.signOut($1) },
    RouteLine(.post, "/v1/auth/check-password") { await $0.accounts.checkPassword($1) },
    RouteLine(.put, "/v1/auth/password", reach: .everyNode) {
      await $0.accounts.changePassword($1)
    },
    RouteLine(.get, "/v1/auth/me") { await $0.accounts.me($1) },
    RouteLine(.delete, "/v1/admin/users/{user}", reach: .everyNode) {
      await $0.accounts.removeForOperator($1)
    },
    RouteLine(.get, "/.well-known/jwks.json") { await $0.accounts.keys($1) },

    RouteLine(.get, "/v1/changes") { await $0.changes.page($1) },
    RouteLine(.get, "/v1/changes/stream", ticket: .stream) { await $0.changes.stream($1) },
    RouteLine(.post, "/v1/stream-tickets", effect: .reads) { await $0.tickets.issue($1) },

    RouteLine(.post, "/v1/admin/purge", reach: .everyNode) { await $0.admin.purge($1) },
    RouteLine(.post, "/v1/admin/explain", effect: .reads) { await $0.admin.explain($1) },
    RouteLine(.get, "/v1/admin/subscriptions", place: .leader) { await $0.liveStatus.show($1) },
    RouteLine(.get, "/v1/admin/upstreams", place: .leader) { await $0.upstreams.list($1) },
    RouteLine(.get, "/v1/admin/cluster") { await $0.cluster.show($1) },
    RouteLine(.post, "/v1/admin/sql", effect: .reads) { await $0.maintenance.sql($1) },
    RouteLine(.get, "/v1/admin/log-level") { await $0.maintenance.showLogLevel($1) },
    RouteLine(.put, "/v1/admin/log-level") { await $0.maintenance.setLogLevel($1) },
    RouteLine(.post, "/v1/admin/backup") { await $0.maintenance.backUp($1) },
    RouteLine(.post, "/v1/admin/signing-keys/replace", reach: .everyNode) {
      await $0.accounts.replaceKeys($1)
    },
    RouteLine(.get, "/v1/admin/tables") { await $0.tables.list($1) },
    RouteLine(.post, "/v1/admin/tables/clean-up") { await $0.tables.cleanUp($1) },
    RouteLine(.delete, "/v1/admin/tables/{type}") { await $0.tables.drop($1) },
  ]

  static let metricsPattern: RoutePattern = "/metrics"

  private static let metrics: [RouteLine] = [
    RouteLine(.get, metricsPattern) { $0.operating.metrics.respond(to: $1) }
  ]

  private static let publicFiles: [RouteLine] = [
    RouteLine(.get, "/{path...}", ticket: .ignored) { endpoints, request in
      guard let files = endpoints.files else {
        return .failure(Failure(.notFound, "No route serves this path."), request: request)
      }
      return await files.respond(to: request, path: request.parameters["path"] ?? "")
    }
  ]
}

/// The routes of one operation: the path of its `@route`, for a query `/stream` below it, and `/diff` if it
/// selects a list of entities, and for a subscription only `/stream`. An operation cannot take those paths: a `@route` that contains one of their names is refused.
enum OperationRoutes {
  static func lines(_ operation: ServedOperation) -> [RouteLine] {
    guard let path = operation.description.route, let pattern = RoutePattern("/api\(path)"),
      let stream = RoutePattern("/api\(path)/stream"), let diff = RoutePattern("/api\(path)/diff")
    else { return [] }
    let name = operation.name
    switch operation.kind {
    case .query:
      let reads = [
        RouteLine(.get, pattern, of: name, ticket: .variable) {
          await $0.operation.get($1, of: operation)
        },
        RouteLine(.get, stream, of: name, ticket: .stream, place: .leader) {
          await $0.operation.stream($1, of: operation)
        },
      ]
      guard operation.description.hasDiff else { return reads }
      return reads + [
        RouteLine(.get, diff, of: name, ticket: .variable) {
          await $0.diffs.operation($1, of: operation)
        },
        RouteLine(.post, diff, of: name, effect: .reads, place: .anyNode) {
          await $0.diffs.operation($1, of: operation)
        },
      ]
    case .mutation:
      return [
        RouteLine(.post, pattern, of: name) { await $0.operation.post($1, of: operation) }
      ]
    case .subscription:
      return [
        RouteLine(.get, stream, of: name, ticket: .stream, place: .leader) {
          await $0.operation.stream($1, of: operation)
        }
      ]
    }
  }
}
